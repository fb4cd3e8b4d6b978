//===- RowPasses.h - Passes over whole blocks of a row, in vectors --------===//
//
// Written once for vectors of any width (RowPasses.cpp) and compiled for those of
// the machine's baseline and, on x86-64, wider ones. Which of them runs shows in
// no token: maxima, the winner of a race and moments are exact, other sums of weights
// are used where a last bit decides nothing.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_SAMPLING_ROWPASSES_H
#define EFFC_RUNTIME_SRC_SAMPLING_ROWPASSES_H

#include "runtime/src/sampling/Race.h"
#include "runtime/src/sampling/Weights.h"

#include <cstddef>
#include <span>

namespace effc::rt {

/// `row` has `blocks` blocks of LogitRow::kBlock.
struct RowPasses {
  /// Writes the largest of each block; false where one is NaN.
  bool (*maxima)(const float *row, size_t blocks, float *out);
  /// All tokens take part in the race, the first being token 0.
  void (*race)(const float *row, const float *maxima, size_t blocks,
               Race &race);
  /// The sum of quickExp() of what lies at most `farthest` below the best, and
  /// of some more.
  double (*mass)(const float *row, const float *maxima, size_t blocks,
                 const Distance &distance, double farthest);
  /// The same in f32 where nothing lies farther than 36, and much faster in blocks that
  /// lie more than `coarsely` below the best.
  RoughMass (*roughMass)(const float *row, const float *maxima, size_t blocks,
                         const Distance &distance, double coarsely,
                         double farthest);
  /// Moments of the tokens of `mass`, by quickExp(): added up in one order, so that
  /// all widths have the same bits. All logits that are looked at are finite or
  /// minus infinity.
  Moments (*moments)(const float *row, const float *maxima, size_t blocks,
                     const Distance &distance, double farthest);
  const char *name;
};

/// The fastest that runs here.
const RowPasses &rowPasses();
/// All that run here.
std::span<const RowPasses> allRowPasses();

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_SAMPLING_ROWPASSES_H
