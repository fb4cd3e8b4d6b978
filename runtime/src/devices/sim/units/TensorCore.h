//===- TensorCore.h - How tensor cores add products -----------------------===//
//
// Sums are cut off as tensor cores do it, never rounded to the nearest (M.
// Fasi, N. J. Higham, M. Mikaitis, S. Pranesh, Numerical behavior of NVIDIA
// tensor cores, PeerJ Computer Science 7:e330, 2021; of the chips since, F. A.
// Khattak, M. Mikaitis, arXiv 2512.07004).
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_SIM_UNITS_TENSORCORE_H
#define EFFC_RUNTIME_SRC_DEVICES_SIM_UNITS_TENSORCORE_H

#include "runtime/abi/NarrowFloats.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace effc::rt {

inline float fromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline uint32_t toBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float fromBf16(uint32_t bits) { return fromBits(bits << 16); }

inline float fromHalf(uint32_t bits) {
  return fromF16(static_cast<uint16_t>(bits));
}

/// Products that a chip adds at once, and bits that it keeps behind an f32's.
struct Adder {
  uint32_t together, bits;
};

/// sums[column] += the sum over k of left[k] w[k][column], as a tensor core
/// does: products, which f32 holds, and the sum before are aligned to the
/// largest of them, cut off some bits behind its last place as an f32, added,
/// and cut off to an f32 again. Columns in which something is infinite or no
/// number, or all is below 2^-95, are added one by one.
template <Adder kAdder, uint32_t kPitch>
void addProducts(const float *left, const float (*w)[kPitch], uint32_t depth,
                 uint32_t columns, float *sums) {
  // From the least exponent on, the last place is a normal number.
  constexpr uint32_t kTogether = kAdder.together, kBits = 23 + kAdder.bits,
                     kBias = 127, kExponent = 0x7F800000, kLeast = 32,
                     kMost = 254;
  for (uint32_t first = 0; first < depth; first += kTogether) {
    uint32_t largest[kPitch];
    int32_t total[kPitch];
    float scale[kPitch];
    for (uint32_t column = 0; column < columns; ++column)
      largest[column] = toBits(sums[column]) & kExponent;
    for (uint32_t k = first; k < first + kTogether; ++k)
      for (uint32_t column = 0; column < columns; ++column) {
        uint32_t exponent = toBits(left[k] * w[k][column]) & kExponent;
        largest[column] =
            exponent > largest[column] ? exponent : largest[column];
      }
    auto isCut = [&](uint32_t column) {
      uint32_t exponent = largest[column] >> 23;
      return kLeast <= exponent && exponent <= kMost;
    };
    for (uint32_t column = 0; column < columns; ++column) {
      uint32_t exponent = isCut(column) ? largest[column] >> 23 : kBias;
      scale[column] = fromBits((2 * kBias + kBits - exponent) << 23);
      total[column] = isCut(column)
                          ? static_cast<int32_t>(sums[column] * scale[column])
                          : 0;
    }
    for (uint32_t k = first; k < first + kTogether; ++k)
      for (uint32_t column = 0; column < columns; ++column)
        total[column] +=
            isCut(column)
                ? static_cast<int32_t>(left[k] * w[k][column] * scale[column])
                : 0;
    for (uint32_t column = 0; column < columns; ++column) {
      if (!isCut(column)) {
        for (uint32_t k = first; k < first + kTogether; ++k)
          sums[column] += left[k] * w[k][column];
        continue;
      }
      auto rounded = static_cast<float>(total[column]);
      bool away =
          std::abs(static_cast<int32_t>(rounded)) > std::abs(total[column]);
      float unit = fromBits(largest[column] - (kBits << 23));
      sums[column] = fromBits(toBits(rounded) - (away ? 1 : 0)) * unit;
    }
  }
}

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_SIM_UNITS_TENSORCORE_H
