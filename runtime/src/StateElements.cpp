#include "runtime/src/StateElements.h"

#include "runtime/abi/NarrowFloats.h"
#include "runtime/src/ModelChecks.h"

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

static float readFloat(ElementType type, const uint8_t *in) {
  if (type == ElementType::F32) {
    float value;
    std::memcpy(&value, in, sizeof value);
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, in, sizeof bits);
  return type == ElementType::BF16 ? fromBF16(bits) : fromF16(bits);
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
