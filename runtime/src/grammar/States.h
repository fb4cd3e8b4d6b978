//===- States.h - What may follow a text, found as texts come -------------===//
//
// A text may be read by a grammar in several ways. Each way is a place: a position
// of the automaton and the positions that calls return to, as a list that shares
// its tail with others (a frame is one link). All places that a text leads to are
// a state. States, frames and the steps between states are kept in one table, each
// once, so that a step that was taken before is a look-up, whichever text it
// belongs to.
//
// A rule that ends with a call of another, or of itself, leaves no frame behind
// (Automaton::isLast), so lists stay short.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_GRAMMAR_STATES_H
#define EFFC_RUNTIME_SRC_GRAMMAR_STATES_H

#include "runtime/src/grammar/Automaton.h"

#include <memory>
#include <unordered_map>
#include <unordered_set>

namespace effc::rt::grammar {

using StateId = uint32_t;
using Mask = std::vector<uint64_t>;

class States {
public:
  /// No text goes on from here.
  static constexpr StateId kDead = UINT32_MAX - 1;
  /// More places than a state may have.
  static constexpr StateId kTooMany = UINT32_MAX - 2;
  static constexpr size_t kMostPlaces = 4096;
  /// Calls in each other.
  static constexpr uint32_t kMostDepth = 4096;

  explicit States(std::shared_ptr<const Automaton> automaton);

  StateId start() const { return first; }
  /// The state behind `byte`.
  StateId next(StateId state, uint8_t byte) {
    uint8_t byteClass = automaton->classOf(byte);
    StateId known = steps[state * classes + byteClass];
    return known != kUnknown ? known : step(state, byteClass);
  }
  /// Whether the text may end.
  bool canEnd(StateId state) const { return all[state].canEnd; }
  /// Whether a byte can follow.
  bool canGoOn(StateId state) const { return !all[state].places.empty(); }

  /// Which tokens can follow, if that was kept; those of a text's first token apart.
  std::shared_ptr<const Mask> &mask(StateId state, bool isFirst) {
    return isFirst ? firstMask : all[state].mask;
  }

  /// The state of `other`, which has the same automaton, that is `state` there.
  StateId copyFrom(const States &other, StateId state);

  /// Without masks.
  size_t bytes() const { return used; }

private:
  static constexpr StateId kUnknown = UINT32_MAX;
  using FrameId = uint32_t;
  static constexpr FrameId kNoFrame = UINT32_MAX;

  struct Frame {
    PositionId target;
    FrameId parent;
    uint32_t depth;
  };
  /// A position with edges over bytes, and its frame.
  struct Place {
    PositionId position;
    FrameId frame;
    bool operator==(const Place &) const = default;
  };
  struct State {
    std::vector<Place> places; // in order
    bool canEnd;
    std::shared_ptr<const Mask> mask;
  };

  StateId step(StateId state, uint8_t byteClass);
  FrameId frame(PositionId target, FrameId parent);
  void reach(Place place);
  StateId finishReaching();

  std::shared_ptr<const Automaton> automaton;
  size_t classes;
  StateId first = 0;
  std::vector<State> all;
  std::vector<StateId> steps; // of each state, one for each class
  std::unordered_multimap<size_t, StateId> byPlaces;
  std::vector<Frame> frames;
  std::unordered_map<uint64_t, FrameId> byLink;
  std::shared_ptr<const Mask> firstMask;
  size_t used = 0;

  // Of the step that is taken.
  std::vector<Place> open, found;
  std::unordered_set<uint64_t> seen;
  bool endReached = false;
};

} // namespace effc::rt::grammar

#endif // EFFC_RUNTIME_SRC_GRAMMAR_STATES_H
