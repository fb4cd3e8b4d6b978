// Numbers as tables and states of fewer bits hold them.
#ifndef EFFC_TEST_UNIT_CONTRACT_NARROWNUMBERS_H
#define EFFC_TEST_UNIT_CONTRACT_NARROWNUMBERS_H

#include "llvm/ADT/bit.h"

#include <cmath>
#include <cstdint>

namespace effc::test {

/// A value rounded to bf16, to the nearest, ties to even.
inline double roundToBf16(double value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(float(value));
  bits += 0x7fff + ((bits >> 16) & 1);
  return llvm::bit_cast<float>(bits & 0xffff0000);
}

/// A value rounded to `bits` behind the leading one, to the nearest, ties to
/// even or away from zero; of no exponent that is too small or too large.
inline double roundToBits(double value, int bits, bool tiesAway) {
  if (value == 0)
    return value;
  double unit = std::ldexp(1.0, std::ilogb(value) - bits);
  return unit *
         (tiesAway ? std::round(value / unit) : std::nearbyint(value / unit));
}

/// A value rounded to f16, to the nearest, ties to even.
inline double roundToF16(double value) {
  constexpr double kLeastNormal = 0x1p-14, kLeast = 0x1p-24;
  return std::fabs(value) < kLeastNormal
             ? kLeast * std::nearbyint(value / kLeast)
             : roundToBits(value, 10, /*tiesAway=*/false);
}

/// A value rounded to tf32, to the nearest, ties away from zero.
inline double roundToTf32(double value) {
  return roundToBits(value, 10, /*tiesAway=*/true);
}

} // namespace effc::test

#endif // EFFC_TEST_UNIT_CONTRACT_NARROWNUMBERS_H
