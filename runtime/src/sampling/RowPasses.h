//===- RowPasses.h - Passes over whole blocks of a row, in vectors --------===//
//
// Written once for vectors of any width (RowPasses.cpp) and compiled for those of
// the machine's baseline and, on x86-64, wider ones. Which of them runs shows in
// no token: maxima, the winner of a race and moments of near tokens are exact, other
// sums of weights are used where a last bit decides nothing.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_SAMPLING_ROWPASSES_H
#define EFFC_RUNTIME_SRC_SAMPLING_ROWPASSES_H

#include "runtime/src/sampling/Candidates.h"
#include "runtime/src/sampling/Race.h"
#include "runtime/src/sampling/Weights.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <span>

namespace effc::rt {

/// Weights of tokens by how far their distance is from an expected one.
struct Buckets {
  static constexpr size_t kCount = 256;
  static constexpr uint64_t kPlaceBits = 0x1FF;
  double expected;
  double
      scale; // what is apart by less than (kCount - 1/2) / scale has a bucket
  double weights[kCount + 1] = {}; // the last is of all others
  uint32_t counts[kCount + 1] = {};

  Buckets(double expected, double near)
      : expected(expected), scale(kCount / near) {}

  double apart(double distance) const { return std::abs(distance - expected); }
  /// The bucket of what is apart by so much.
  size_t placeOf(double apart) const {
    double place = std::min(apart * scale, double(kCount)) + QuickExp::kRound;
    return static_cast<size_t>(std::bit_cast<uint64_t>(place) & kPlaceBits);
  }
};

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
  /// Moments of the tokens of `mass`, in blocks that lie at most `nearly` below the
  /// best by quickExp(): added up in one order, so that all widths have the same bits.
  /// Of other blocks in f32. All logits that are looked at are finite or minus
  /// infinity.
  RoughMoments (*moments)(const float *row, const float *maxima, size_t blocks,
                          const Distance &distance, double nearly,
                          double farthest);
  /// Adds the weight of each candidate, by quickExp(), to its bucket.
  void (*spread)(const Candidate *candidates, size_t count,
                 const Distance &distance, Buckets &buckets);
  const char *name;
};

/// The fastest that runs here.
const RowPasses &rowPasses();
/// All that run here.
std::span<const RowPasses> allRowPasses();

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_SAMPLING_ROWPASSES_H
