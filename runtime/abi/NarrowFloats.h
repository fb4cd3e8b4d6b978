// bf16 and f16 as bits, to f32 and back: what compiler and runtime share.
//
// Without a dependency, so that either side may include it. Conversions to f32
// are exact; those from f32 round to nearest even.
#ifndef EFFC_RUNTIME_ABI_NARROWFLOATS_H
#define EFFC_RUNTIME_ABI_NARROWFLOATS_H

#include <bit>
#include <cstdint>

namespace effc::rt {

inline float fromBF16(uint16_t bits) {
  return std::bit_cast<float>(uint32_t(bits) << 16);
}

/// Subnormal numbers, infinities and NaN included; a NaN keeps its payload.
inline float fromF16(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16, magnitude = bits & 0x7fff;
  if (magnitude < 0x400) // subnormal numbers
    return std::bit_cast<float>(
        sign | std::bit_cast<uint32_t>(float(magnitude) * 0x1p-24f));
  uint32_t rebias = magnitude >= 0x7c00 ? 0x70000000 : 0x38000000;
  return std::bit_cast<float>(sign | ((magnitude << 13) + rebias));
}

/// A NaN keeps its sign and its upper bits, and becomes a quiet one.
inline uint16_t toBF16(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  if (value != value)
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Subnormal numbers too; from 65520 on an infinity; a NaN stays one.
inline uint16_t toF16(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  uint16_t sign = bits >> 16 & 0x8000;
  bits &= 0x7fffffff;
  if (bits >= 0x47800000) // from 65536 on
    return sign | (bits > 0x7f800000 ? 0x7e00 : 0x7c00);
  // Below 2^-14 the last place is 2^-24, which is that of one half.
  if (bits < 0x38800000)
    return sign | (std::bit_cast<uint32_t>(std::bit_cast<float>(bits) + 0.5f) -
                   std::bit_cast<uint32_t>(0.5f));
  bits += 0xfff + (bits >> 13 & 1);
  return sign | ((bits >> 13) - (112 << 10));
}

} // namespace effc::rt

#endif // EFFC_RUNTIME_ABI_NARROWFLOATS_H
