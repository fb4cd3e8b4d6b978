//===- Exactness.h - Where a kept state gives the bits of a cold run ------===//
#ifndef EFFC_RUNTIME_SRC_EXACTNESS_H
#define EFFC_RUNTIME_SRC_EXACTNESS_H

#include "runtime/src/Plan.h"

namespace effc::rt {

/// At which positions a sequence may go on from a state that another one has left,
/// and have the bits that it would have had by itself.
struct Exactness {
  enum class Kind {
    Anywhere, // tokens have the same bits whatever they are computed with
    OnGrid,   // at multiples of `grid`, of tokens that prefill entries took
    Nowhere   // or nobody knows
  };
  Kind kind = Kind::Nowhere;
  uint64_t grid = 1;

  bool holds(uint64_t position, bool byPrefill) const {
    return kind == Kind::Anywhere ||
           (kind == Kind::OnGrid && byPrefill && position % grid == 0);
  }
};

/// What holds for `plan` of `program`, from its states, its chunks and the options
/// that the file was compiled with. A file that does not say how it was compiled is
/// exact nowhere.
Exactness exactnessOf(const artifact::Program &program, const Plan &plan);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_EXACTNESS_H
