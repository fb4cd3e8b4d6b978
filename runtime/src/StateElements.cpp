#include "runtime/src/StateElements.h"

#include "runtime/abi/NarrowFloats.h"
#include "runtime/src/ModelChecks.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

using namespace effc;
using namespace effc::rt;
using artifact::ElementType;

static constexpr size_t kScaleBytes = 4;
static constexpr float kMostOfByte = 127;

static bool isFloat(ElementType type) {
  switch (type) {
  case ElementType::F32:
  case ElementType::BF16:
  case ElementType::F16:
  case ElementType::Blocks:
    return true;
  case ElementType::I32:
  case ElementType::I64:
    return false;
  }
  return false;
}

bool rt::isStateType(ElementType type) {
  return type == ElementType::Blocks || elementBytes(type) > 0;
}

uint64_t rt::stateBytes(ElementType type, uint64_t count, uint64_t row) {
  return type == ElementType::Blocks ? count / row * (kScaleBytes + row)
                                     : count * elementBytes(type);
}

bool rt::isConvertible(ElementType from, ElementType to) {
  return from == to || (isFloat(from) && isFloat(to));
}

static float readScale(const uint8_t *in) {
  float value;
  std::memcpy(&value, in, sizeof value);
  return value;
}

static uint16_t readHalf(const uint8_t *in) {
  uint16_t bits;
  std::memcpy(&bits, in, sizeof bits);
  return bits;
}

/// Element `index`, from the start of its rows, of a type that isFloat() knows.
static float readFloat(ElementType type, const uint8_t *in, size_t index,
                       size_t row) {
  switch (type) {
  case ElementType::F32:
    return readScale(in + index * sizeof(float));
  case ElementType::BF16:
    return fromBF16(readHalf(in + index * sizeof(uint16_t)));
  case ElementType::F16:
    return fromF16(readHalf(in + index * sizeof(uint16_t)));
  case ElementType::Blocks:
    in += index / row * (kScaleBytes + row);
    return readScale(in) * float(int(in[kScaleBytes + index % row]) - 128);
  case ElementType::I32:
  case ElementType::I64:
    break;
  }
  std::abort();
}

static void writeHalf(uint16_t bits, uint8_t *out) {
  std::memcpy(out, &bits, sizeof bits);
}

/// Blocks are written row by row.
static void writeFloat(ElementType type, float value, uint8_t *out) {
  switch (type) {
  case ElementType::F32:
    std::memcpy(out, &value, sizeof value);
    return;
  case ElementType::BF16:
    return writeHalf(toBF16(value), out);
  case ElementType::F16:
    return writeHalf(toF16(value), out);
  case ElementType::Blocks:
  case ElementType::I32:
  case ElementType::I64:
    break;
  }
  std::abort();
}

/// A row of Blocks, to the bit as kernels of the host write it
/// (codegen/host/RowBytes.cpp).
static void writeRow(const std::vector<float> &numbers, uint8_t *out) {
  float largest = 0;
  bool isFinite = true;
  for (float number : numbers) {
    largest = std::max(largest, std::fabs(number));
    isFinite &= std::isfinite(number);
  }
  float scale = largest / kMostOfByte, inverse = 1 / scale;
  if (!isFinite || !std::isfinite(inverse))
    inverse = scale = 0;
  if (!isFinite)
    scale = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(out, &scale, sizeof scale);
  for (size_t i = 0; i < numbers.size(); ++i)
    out[kScaleBytes + i] = static_cast<uint8_t>(
        isFinite ? int(std::nearbyint(numbers[i] * inverse)) + 128 : 129);
}

void rt::convertElements(ElementType from, const uint8_t *in, ElementType to,
                         uint8_t *out, size_t count, size_t row) {
  if (from == to) {
    std::memcpy(out, in, stateBytes(from, count, row));
    return;
  }
  if (to == ElementType::Blocks) {
    std::vector<float> numbers(row);
    for (size_t first = 0; first < count; first += row) {
      for (size_t i = 0; i < row; ++i)
        numbers[i] = readFloat(from, in, first + i, row);
      writeRow(numbers, out + first / row * (kScaleBytes + row));
    }
    return;
  }
  size_t step = elementBytes(to);
  for (size_t i = 0; i < count; ++i)
    writeFloat(to, readFloat(from, in, i, row), out + i * step);
}

size_t rt::findNan(ElementType type, const uint8_t *in, size_t count,
                   size_t row) {
  if (!isFloat(type))
    return count;
  for (size_t i = 0; i < count; ++i)
    if (std::isnan(readFloat(type, in, i, row)))
      return i;
  return count;
}

void rt::fillElements(ElementType type, float value, uint8_t *out, size_t count,
                      size_t row) {
  if (type == ElementType::Blocks) {
    std::memset(out, 0, stateBytes(type, count, row));
    return;
  }
  size_t each = elementBytes(type);
  for (size_t i = 0; i < count; ++i)
    if (isFloat(type)) {
      writeFloat(type, value, out + i * each);
    } else {
      auto whole = static_cast<int64_t>(value);
      std::memcpy(out + i * each, &whole, each);
    }
}
