//===- StateRows.h - Where the tokens of a growing state lie --------------===//
//
// A state that grows with the sequence has a row for each token it holds: token
// t lies in row t modulo the state's rows, so that a window is a ring and a
// state for a whole context never wraps around. Rows that no token was written
// to hold anything.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_STATEROWS_H
#define EFFC_RUNTIME_SRC_STATEROWS_H

#include "runtime/schema/program_generated.h"

#include <algorithm>
#include <cstdint>

namespace effc::rt {

/// Consecutive tokens of a sequence.
struct TokenRange {
  uint64_t first, count;
};

inline bool growsWithSequence(const artifact::State &state) {
  return state.growth() != artifact::Growth::Fixed;
}

/// The tokens that a growing state holds after `position` of them.
inline TokenRange tokensHeld(const artifact::State &state, uint64_t position) {
  uint64_t count = std::min(position, state.shape()->Get(0));
  return {position - count, count};
}

inline uint64_t rowOf(const artifact::State &state, uint64_t token) {
  return token % state.shape()->Get(0);
}

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_STATEROWS_H
