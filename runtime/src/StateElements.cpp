#include "runtime/src/StateElements.h"

#include "runtime/src/ModelChecks.h"

#include <bit>
#include <cmath>
#include <cstring>

using namespace effc;
using namespace effc::rt;
using artifact::ElementType;

static bool isFloat(ElementType type) {
  return type == ElementType::F32 || type == ElementType::BF16 ||
         type == ElementType::F16;
}

bool rt::isConvertible(ElementType from, ElementType to) {
  return from == to || (isFloat(from) && isFloat(to));
}

static float fromF16(uint16_t bits) {
  float sign = bits & 0x8000 ? -1.0f : 1.0f;
  int exponent = bits >> 10 & 31;
  float mantissa = static_cast<float>(bits & 0x3ff);
  if (exponent == 31)
    return mantissa != 0 ? std::nanf("") : sign * INFINITY;
  if (exponent == 0)
    return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(mantissa + 1024, exponent - 25);
}

/// Rounds to nearest even; a NaN stays one.
static uint16_t toBF16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static uint16_t toF16(float value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  float magnitude = std::fabs(value);
  if (std::isnan(value))
    return sign | 0x7e00;
  if (magnitude >= 65520) // halfway past the largest, ties away from it
    return sign | 0x7c00;
  int exponent = magnitude < 0x1p-14f ? -14 : std::ilogb(magnitude);
  // In units of the last place; nearbyint rounds to nearest even.
  auto units = static_cast<uint32_t>(
      std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  // A normal number has 1024 in `units`, which raises the exponent field by
  // one.
  return static_cast<uint16_t>(sign + ((exponent + 14) << 10) + units);
}

static float readFloat(ElementType type, const uint8_t *in) {
  if (type == ElementType::F32) {
    float value;
    std::memcpy(&value, in, sizeof value);
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, in, sizeof bits);
  return type == ElementType::BF16
             ? std::bit_cast<float>(static_cast<uint32_t>(bits) << 16)
             : fromF16(bits);
}

static void writeFloat(ElementType type, float value, uint8_t *out) {
  if (type == ElementType::F32) {
    std::memcpy(out, &value, sizeof value);
    return;
  }
  uint16_t bits = type == ElementType::BF16 ? toBF16(value) : toF16(value);
  std::memcpy(out, &bits, sizeof bits);
}

void rt::convertElements(ElementType from, const uint8_t *in, ElementType to,
                         uint8_t *out, size_t count) {
  size_t each = elementBytes(from), step = elementBytes(to);
  if (from == to) {
    std::memcpy(out, in, count * each);
    return;
  }
  for (size_t i = 0; i < count; ++i)
    writeFloat(to, readFloat(from, in + i * each), out + i * step);
}

size_t rt::findNan(ElementType type, const uint8_t *in, size_t count) {
  if (!isFloat(type))
    return count;
  size_t each = elementBytes(type);
  for (size_t i = 0; i < count; ++i)
    if (std::isnan(readFloat(type, in + i * each)))
      return i;
  return count;
}

void rt::fillElements(ElementType type, float value, uint8_t *out,
                      size_t count) {
  size_t each = elementBytes(type);
  for (size_t i = 0; i < count; ++i)
    if (isFloat(type)) {
      writeFloat(type, value, out + i * each);
    } else {
      auto whole = static_cast<int64_t>(value);
      std::memcpy(out + i * each, &whole, each);
    }
}
