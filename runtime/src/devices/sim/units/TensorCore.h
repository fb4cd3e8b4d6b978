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

// Simulated products are most of what a simulated kernel takes, so they are
// compiled for wider vectors as well, where the processor has them. The bits are
// the same: nothing is contracted.
#if defined(__x86_64__)
#define EFFC_WIDE __attribute__((target("avx2")))
inline bool hasWideVectors() {
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
}
#else
#define EFFC_WIDE
inline bool hasWideVectors() { return false; }
#endif

/// Products that a chip adds at once, and bits that it keeps behind an f32's.
struct Adder {
  uint32_t together, bits;
};

/// Of a row, so many sums are computed side by side: the lanes of a vector.
constexpr uint32_t kSumsTogether = 8;

/// sums[column] += the sum over k of left[k] w[k][column], of kSumsTogether
/// columns, as a tensor core does: products, which f32 holds, and the sum before
/// are aligned to the largest of them, cut off some bits behind its last place as
/// an f32, added, and cut off to an f32 again. Columns in which something is
/// infinite or no number, or all is below 2^-95, are added one by one. It becomes
/// a part of its caller, which says for what vectors.
template <Adder kAdder, uint32_t kPitch>
[[gnu::always_inline]] inline void addProducts(const float *left,
                                               const float (*w)[kPitch],
                                               uint32_t depth, float *sums) {
  // From the least exponent on, the last place is a normal number.
  constexpr uint32_t kTogether = kAdder.together, kBits = 23 + kAdder.bits,
                     kBias = 127, kExponent = 0x7F800000, kLeast = 32,
                     kMost = 254;
  for (uint32_t first = 0; first < depth; first += kTogether) {
    uint32_t largest[kSumsTogether], aligned[kSumsTogether];
    int32_t total[kSumsTogether];
    float scale[kSumsTogether];
    for (uint32_t column = 0; column < kSumsTogether; ++column)
      largest[column] = toBits(sums[column]) & kExponent;
    for (uint32_t k = first; k < first + kTogether; ++k)
      for (uint32_t column = 0; column < kSumsTogether; ++column) {
        uint32_t exponent = toBits(left[k] * w[k][column]) & kExponent;
        largest[column] =
            exponent > largest[column] ? exponent : largest[column];
      }
    auto isCut = [&](uint32_t column) {
      uint32_t exponent = largest[column] >> 23;
      return kLeast <= exponent && exponent <= kMost;
    };
    uint32_t uncut = 0;
    for (uint32_t column = 0; column < kSumsTogether; ++column) {
      aligned[column] = isCut(column) ? largest[column] : kBias << 23;
      scale[column] = fromBits(((2 * kBias + kBits) << 23) - aligned[column]);
      total[column] = isCut(column)
                          ? static_cast<int32_t>(sums[column] * scale[column])
                          : 0;
      uncut |= isCut(column) ? 0 : 1u << column;
    }
    for (uint32_t k = first; k < first + kTogether; ++k)
      for (uint32_t column = 0; column < kSumsTogether; ++column)
        total[column] +=
            isCut(column)
                ? static_cast<int32_t>(left[k] * w[k][column] * scale[column])
                : 0;
    for (uint32_t column = 0; uncut && column < kSumsTogether; ++column)
      for (uint32_t k = first; uncut >> column & 1 && k < first + kTogether;
           ++k)
        sums[column] += left[k] * w[k][column];
    for (uint32_t column = 0; column < kSumsTogether; ++column) {
      auto rounded = static_cast<float>(total[column]);
      bool away =
          std::abs(static_cast<int32_t>(rounded)) > std::abs(total[column]);
      float unit = fromBits(aligned[column] - (kBits << 23));
      float sum = fromBits(toBits(rounded) - (away ? 1 : 0)) * unit;
      sums[column] = isCut(column) ? sum : sums[column];
    }
  }
}

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_SIM_UNITS_TENSORCORE_H
