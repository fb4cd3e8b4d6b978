// What sound arithmetic may lose, derived from what plain f32 arithmetic loses
// on the same model.
#ifndef EFFC_TOOLS_EFFC_VERIFY_TOLERANCES_H
#define EFFC_TOOLS_EFFC_VERIFY_TOLERANCES_H

#include "compiler/Target.h"

#include <algorithm>
#include <cmath>

namespace effc::verify {

// Other orders of summing lose as much as the reference's, and vectorised ones
// less; four times that is beyond what differs between sound kernels and far
// below what a wrong one does. The floor is 16 units in the last place.
inline constexpr double kLossFactor = 4, kF32Floor = 16 * 0x1p-23;
inline constexpr double kDoubleOverF32 = 0x1p-29, kDoubleFloor = 256 * 0x1p-52;
// A state in bf16 is rounded by at most 2^-9 of an element where a call ends,
// and what was rounded decays with the state: ten such errors at once are
// generous.
inline constexpr double kNarrowFeeding = 10 * 0x1p-9;
// The same of f16, which has 10 bits behind the point for bf16's 7.
inline constexpr double kHalfFeeding = 10 * 0x1p-12;
// Of a row of 8 bits an error is at most 1 / 254 of its largest number, and half of that on
// average: ten of these.
inline constexpr double kByteFeeding = 10.0 / 254;
// A wrong kernel may be wrong by no more than this, so beyond it a tolerance
// says nothing.
inline constexpr double kMostLoss = 1e-2;
// Between ways of feeding both sides have products of a GPU that round, and other
// sequences than the reference's lose more than that: twice as much is tolerated.
inline constexpr double kOperandFeeding = 2 * kLossFactor;
// The most that rounding operands may lose where it is to tell a wrong kernel: of a
// file an eighth of the largest logit is tolerated then.
inline constexpr double kMostOperandLoss = 0x1p-5;
// Without a reference nothing is known of the model's loss.
inline constexpr double kUnknownLoss = 0x1p-12;

/// The same of products that round their rows. In 8 bits a recurrence of 20 products
/// and a transformer of 211 lose 0.034; bf16 has as many bits, f16 and tf32 8 times as
/// many, int16 256 times as many.
inline double roundedLoss(Products products) {
  switch (products) {
  case Products::Int16:
    return 0x1p-13;
  case Products::F16:
  case Products::TF32:
    return 0x1p-8;
  default:
    return 0x1p-5;
  }
}

/// Of results in f32, where the reference loses `loss` in f32.
inline double f32Tolerance(double loss) {
  return std::max(kLossFactor * loss, kF32Floor);
}

/// Of results in double.
inline double doubleTolerance(double loss) {
  return std::max(kLossFactor * loss * kDoubleOverF32, kDoubleFloor);
}

} // namespace effc::verify

#endif // EFFC_TOOLS_EFFC_VERIFY_TOLERANCES_H
