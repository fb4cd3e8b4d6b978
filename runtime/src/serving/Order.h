//===- Order.h - Who goes first, and for how long the others wait ---------===//
//
// Pure logic. A request has a class, its priority, and one class more for each
// `ageSteps` steps that it has waited; of equal classes the older goes first. A
// request that comes ageSteps * (kMost - priority) steps later never passes it.
//
// Prompts share the tokens of a step: the first in order takes at least 3/4, the
// one with the fewest left to feed 1/4, so that short prompts pass long ones.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_SERVING_ORDER_H
#define EFFC_RUNTIME_SRC_SERVING_ORDER_H

#include "runtime/include/effc/effc.h"

#include <cstdint>
#include <span>
#include <vector>

namespace effc::rt {

/// The place of a request among others.
struct Place {
  uint64_t number; // by submission
  uint32_t priority;
  uint64_t since; // the step in which it was submitted

  uint64_t classAt(uint64_t step, uint32_t ageSteps) const {
    return priority + (step - since) / ageSteps;
  }
  bool goesBefore(const Place &other, uint64_t step, uint32_t ageSteps) const {
    uint64_t mine = classAt(step, ageSteps),
             theirs = other.classAt(step, ageSteps);
    return mine != theirs ? mine > theirs : number < other.number;
  }
};

/// A prompt that is being fed.
struct Prompt {
  uint64_t position; // of the next token
  uint64_t left;     // tokens
  // Of these at once, since states are copied behind them.
  uint64_t stop = UINT64_MAX;
};

/// How many tokens each of `prompts`, which stand in order, is fed in a step with
/// room for `room`. A prompt that is not fed to its stop is cut on a multiple of
/// `grid`, on which stops lie but for ends; the first is fed at least up to the next
/// one.
std::vector<uint64_t> shareRoom(std::span<const Prompt> prompts, uint64_t room,
                                uint64_t grid);

/// What bounds waiting.
struct WaitBounds {
  uint64_t queue;    // requests that may wait
  uint64_t running;  // sequences at once
  uint64_t together; // of the largest, so many fit into memory at once
  uint64_t choices;  // the most of a request; at most `together`
  uint64_t promptTokens, newTokens; // the most of one; 0: no bound
  uint64_t room, grid;              // as shareRoom() has them
  uint32_t ageSteps;
  uint64_t stops = 0; // the most of a prompt, each of which may end a step

  /// The most steps from submission to the first token. When a request cannot be
  /// passed any more, at most queue - 1 + running others are before it. A step
  /// either feeds at least 3/4 of the room to the first prompt, or all places that
  /// are taken decode: those that are not taken are too few for the next request.
  uint64_t mostSteps() const;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_SERVING_ORDER_H
