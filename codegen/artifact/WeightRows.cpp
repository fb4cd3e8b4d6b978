// Conversion, transposition and padding of weights.
#include "codegen/artifact/WeightRows.h"

#include "dialects/plan/MemoryLayout.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

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

storage::Storage effc::codegen::storageOf(mlir::RankedTensorType weight) {
  return storage::Storage::get(weight.getElementType());
}

uint64_t effc::codegen::rowCount(mlir::RankedTensorType type) {
  return type.getRank() == 1 ? 1 : type.getDimSize(0);
}

uint64_t effc::codegen::rowBytes(mlir::RankedTensorType type) {
  storage::Storage storage = storageOf(type);
  int64_t columns = type.getNumElements() / rowCount(type);
  return storage.bytes(storage.paddedElements(columns, plan::kRowAlignment));
}

std::optional<std::string>
effc::codegen::whyNotReferenced(seq::WeightOp weight,
                                const SourceTensor &tensor) {
  auto type = cast<mlir::RankedTensorType>(weight.getType());
  storage::Storage storage = storageOf(type);
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
  if (storage != tensor.storage)
    return formatv("its elements are stored as {0} and used as {1}",
                   tensor.storage.name(), storage.name())
        .str();
  uint64_t bytes = storage.bytes(type.getNumElements() / rowCount(type));
  if (bytes != rowBytes(type))
    return formatv("its rows have {0} bytes, and kernels read rows at "
                   "multiples of {1}",
                   bytes, plan::kRowAlignment)
        .str();
  // Blocks are read byte by byte.
  if (!storage.block() && tensor.fileOffset % storage.blockBytes() != 0)
    return formatv("it starts at byte {0} of its file, which is no multiple of "
                   "its elements' {1}",
                   tensor.fileOffset, storage.blockBytes())
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
  WeightRows result(tensor, storageOf(type));
  if (weight.getTransposed())
    result.turned = {type.getShape().drop_back().back(),
                     type.getShape().back()};
  result.name = weight.getSource().str();
  result.count = rowCount(type);
  result.columns = type.getNumElements() / result.count;
  result.numbers.resize(result.columns);
  result.buffer.assign(rowBytes(type), 0);
  return result;
}

// Where the source has element `index` of the weight.
uint64_t WeightRows::placeOf(uint64_t index) const {
  if (!turned)
    return index;
  auto [rows, columns] = *turned;
  uint64_t within = index % (rows * columns);
  return index - within + within % columns * rows + within / columns;
}

Expected<ArrayRef<uint8_t>> WeightRows::row(uint64_t row) {
  // The elements of a source of the same storage are taken as they are.
  if (storage == source.storage && !turned) {
    size_t bytes = storage.bytes(columns);
    std::memcpy(buffer.data(), source.bytes.data() + row * bytes, bytes);
    return buffer;
  }
  for (uint64_t column = 0; column < columns; ++column)
    numbers[column] =
        source.storage.number(source.bytes, placeOf(row * columns + column));
  std::optional<uint64_t> refused = storage.encode(numbers, buffer);
  if (!refused)
    return buffer;
  auto at = [&](unsigned long long column) {
    return formatv("at row {0}, column {1}", row, column).str();
  };
  if (!storage.block())
    return createStringError("tensor '%s' has the element %g %s, which is "
                             "beyond %s's largest number, %g",
                             name.c_str(), double(numbers[*refused]),
                             at(*refused).c_str(), storage.name().str().c_str(),
                             storage.type().isF16() ? 65504 : 0x1.fep127);
  return createStringError("tensor '%s' has a block %s whose largest number no "
                           "scale of %s stands for",
                           name.c_str(), at(*refused).c_str(),
                           storage.name().str().c_str());
}
