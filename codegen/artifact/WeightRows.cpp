// Conversion, transposition and padding of weights.
#include "codegen/artifact/WeightRows.h"

#include "dialects/plan/MemoryLayout.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <bit>
#include <cmath>
#include <cstring>

using namespace llvm;
using namespace effc;
using namespace effc::codegen;

static std::string join(ArrayRef<int64_t> shape) {
  std::string text;
  raw_string_ostream stream(text);
  interleave(shape, stream, "x");
  return text;
}

SourceTensor::Type effc::codegen::storageType(mlir::Type element) {
  if (element.isBF16())
    return SourceTensor::Type::BF16;
  return element.isF16() ? SourceTensor::Type::F16 : SourceTensor::Type::F32;
}

uint64_t effc::codegen::rowCount(mlir::RankedTensorType type) {
  return type.getRank() == 1 ? 1 : type.getDimSize(0);
}

uint64_t effc::codegen::rowBytes(mlir::RankedTensorType type) {
  uint64_t columns = type.getNumElements() / rowCount(type);
  return alignTo(columns * bytesOf(storageType(type.getElementType())),
                 plan::kRowAlignment);
}

static StringRef nameOf(SourceTensor::Type type) {
  switch (type) {
  case SourceTensor::Type::F32:
    return "f32";
  case SourceTensor::Type::BF16:
    return "bf16";
  case SourceTensor::Type::F16:
    return "f16";
  }
  llvm_unreachable("every type is listed");
}

size_t effc::codegen::bytesOf(SourceTensor::Type type) {
  return type == SourceTensor::Type::F32 ? 4 : 2;
}

std::optional<std::string>
effc::codegen::whyNotReferenced(seq::WeightOp weight,
                                const SourceTensor &tensor) {
  auto type = cast<mlir::RankedTensorType>(weight.getType());
  SourceTensor::Type storage = storageType(type.getElementType());
  if (type.getRank() < 2)
    return "it is a vector";
  if (weight.getTransposed())
    return "the checkpoint holds its transpose";
  if (weight.getFurther())
    return "it is made of several tensors";
  if (weight.getRows())
    return "it is a part of a tensor";
  if (weight.getDerived())
    return "its numbers follow from a tensor's by a rule";
  if (storage != tensor.type)
    return formatv("its elements are stored as {0} and used as {1}",
                   nameOf(tensor.type), nameOf(storage))
        .str();
  uint64_t rowBytes = type.getNumElements() / rowCount(type) * bytesOf(storage);
  if (rowBytes % plan::kRowAlignment != 0)
    return formatv("its rows have {0} bytes, and kernels read rows at "
                   "multiples of {1}",
                   rowBytes, plan::kRowAlignment)
        .str();
  if (tensor.fileOffset % bytesOf(storage) != 0)
    return formatv("it starts at byte {0} of its file, which is no multiple of "
                   "its elements' {1}",
                   tensor.fileOffset, bytesOf(storage))
        .str();
  return std::nullopt;
}

Expected<WeightRows> WeightRows::create(seq::WeightOp weight,
                                        const SourceTensor &tensor) {
  auto type = cast<mlir::RankedTensorType>(weight.getType());
  auto withoutOnes = [](auto shape) {
    SmallVector<int64_t> result;
    for (auto size : shape)
      if (size != 1)
        result.push_back(static_cast<int64_t>(size));
    return result;
  };
  SmallVector<int64_t> stored(type.getShape());
  if (weight.getTransposed())
    std::swap(stored[stored.size() - 2], stored.back());
  SmallVector<int64_t> found = withoutOnes(tensor.shape),
                       expected = withoutOnes(stored);
  if (found != expected)
    return createStringError(
        "tensor '" + weight.getSource() + "' expects shape " + join(expected) +
        " (dimensions of 1 aside), but got " + join(found));
  WeightRows result;
  result.source = tensor;
  if (weight.getTransposed())
    result.turned = {type.getShape().drop_back().back(),
                     type.getShape().back()};
  result.name = weight.getSource().str();
  result.storage = storageType(type.getElementType());
  result.count = rowCount(type);
  result.columns = type.getNumElements() / result.count;
  result.buffer.assign(rowBytes(type), 0);
  return result;
}

static float fromF16(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000) << 16, magnitude = half & 0x7fff;
  if (magnitude < 0x400) // subnormal numbers
    return std::bit_cast<float>(
        sign | std::bit_cast<uint32_t>(float(magnitude) * 0x1p-24f));
  uint32_t rebias = magnitude >= 0x7c00 ? 0x70000000 : 0x38000000;
  return std::bit_cast<float>(sign | ((magnitude << 13) + rebias));
}

// Where the source has element `index` of the weight.
uint64_t WeightRows::placeOf(uint64_t index) const {
  if (!turned)
    return index;
  auto [rows, columns] = *turned;
  uint64_t within = index % (rows * columns);
  return index - within + within % columns * rows + within / columns;
}

// The source's element as f32; exact for all three types.
float WeightRows::element(uint64_t index) const {
  if (source.type == SourceTensor::Type::F32) {
    float value;
    std::memcpy(&value, source.bytes.data() + index * 4, 4);
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, source.bytes.data() + index * 2, 2);
  if (source.type == SourceTensor::Type::BF16)
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  return fromF16(bits);
}

// Rounds to nearest even; a NaN keeps its quiet bit.
static uint16_t toBF16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (value != value)
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Rounds to nearest even, subnormal numbers too; a NaN stays one.
static uint16_t toF16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
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

Expected<ArrayRef<uint8_t>> WeightRows::row(uint64_t row) {
  using Type = SourceTensor::Type;
  size_t size = bytesOf(storage);
  // The elements of a source of the same type are taken as they are.
  if (storage == source.type && !turned) {
    std::memcpy(buffer.data(), source.bytes.data() + row * columns * size,
                columns * size);
    return buffer;
  }
  for (uint64_t column = 0; column < columns; ++column) {
    float value = element(placeOf(row * columns + column));
    uint8_t *to = buffer.data() + column * size;
    if (storage == Type::F32) {
      std::memcpy(to, &value, size);
      continue;
    }
    uint16_t bits = storage == Type::BF16 ? toBF16(value) : toF16(value);
    if (storage == Type::F16 && std::isfinite(value) &&
        (bits & 0x7fff) == 0x7c00)
      return createStringError(
          "tensor '%s' has the element %g at row %llu, column %llu, which is "
          "beyond f16's largest number, 65504",
          name.c_str(), double(value), static_cast<unsigned long long>(row),
          static_cast<unsigned long long>(column));
    std::memcpy(to, &bits, size);
  }
  return buffer;
}
