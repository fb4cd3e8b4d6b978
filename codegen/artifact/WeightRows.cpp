// Conversion, transposition and padding of weights.
#include "codegen/artifact/WeightRows.h"

#include "dialects/plan/MemoryLayout.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/MathExtras.h"

#include <bit>
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
  SmallVector<int64_t> found = withoutOnes(tensor.shape),
                       expected = withoutOnes(type.getShape());
  if (weight.getTransposed())
    std::reverse(expected.begin(), expected.end());
  if (found != expected)
    return createStringError(
        "tensor '" + weight.getSource() + "' expects shape " + join(expected) +
        " (dimensions of 1 aside), but got " + join(found));
  WeightRows result;
  result.source = tensor;
  result.transposed = weight.getTransposed();
  result.narrow = type.getElementType().isBF16();
  result.rowCount = type.getRank() == 1 ? 1 : type.getDimSize(0);
  result.columns =
      type.getRank() == 1 ? type.getDimSize(0) : type.getDimSize(1);
  // A vector is one row, padded like those of a matrix.
  uint64_t bytes = result.columns * (result.narrow ? 2 : 4);
  result.strideBytes = alignTo(bytes, plan::kRowAlignment);
  result.buffer.assign(result.strideBytes, 0);
  return result;
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
  APFloat half(APFloat::IEEEhalf(), APInt(16, bits));
  bool lost;
  half.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lost);
  return half.convertToFloat();
}

// Rounds to nearest even; a NaN keeps its quiet bit.
static uint16_t toBF16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (value != value)
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

ArrayRef<uint8_t> WeightRows::row(uint64_t row) {
  for (uint64_t column = 0; column < columns; ++column) {
    float value =
        element(transposed ? column * rowCount + row : row * columns + column);
    if (narrow) {
      uint16_t bits = toBF16(value);
      std::memcpy(buffer.data() + column * 2, &bits, 2);
    } else {
      std::memcpy(buffer.data() + column * 4, &value, 4);
    }
  }
  return buffer;
}
