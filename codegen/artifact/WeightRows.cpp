// Conversion, transposition and padding of weights.
#include "codegen/artifact/WeightRows.h"

#include "dialects/plan/MemoryLayout.h"
#include "dialects/storage/DenseKind.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

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

static mlir::RankedTensorType typeOf(seq::WeightOp weight) {
  return cast<mlir::RankedTensorType>(weight.getType());
}

storage::Storage effc::codegen::storageOf(seq::WeightOp weight) {
  return storage::Storage::get(weight.getStoredElement());
}

uint64_t effc::codegen::rowCount(seq::WeightOp weight) {
  mlir::RankedTensorType type = typeOf(weight);
  return type.getRank() == 1 ? 1
                             : divideCeil(uint64_t(type.getDimSize(0)),
                                          storageOf(weight).blockRows());
}

uint64_t effc::codegen::rowBytes(seq::WeightOp weight) {
  mlir::RankedTensorType type = typeOf(weight);
  storage::Storage storage = storageOf(weight);
  int64_t rows = type.getRank() == 1 ? 1 : type.getDimSize(0);
  int64_t columns = type.getNumElements() / rows;
  return storage.bytes(storage.paddedElements(columns, plan::kRowAlignment) *
                       storage.blockRows());
}

std::optional<std::string>
effc::codegen::whyNotReferenced(seq::WeightOp weight,
                                const SourceTensor &tensor) {
  mlir::RankedTensorType type = typeOf(weight);
  storage::Storage storage = storageOf(weight);
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
  if (!tensor.isInOrder)
    return "the file has its bytes in another order";
  if (weight.getBundles())
    return "kernels read bundles of its blocks";
  if (storage != tensor.storage)
    return formatv("its elements are stored as {0} and used as {1}",
                   tensor.storage.name(), storage.name())
        .str();
  if (weight.getPanels())
    return "products read its rows interleaved";
  uint64_t bytes = storage.bytes(type.getNumElements() / type.getDimSize(0));
  if (bytes != rowBytes(weight))
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
  mlir::RankedTensorType type = typeOf(weight);
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
  WeightRows result(tensor, storage::Storage::get(type.getElementType()));
  if (weight.getTransposed())
    result.turned = {type.getShape().drop_back().back(),
                     type.getShape().back()};
  result.name = weight.getSource().str();
  result.count = type.getRank() == 1 ? 1 : type.getDimSize(0);
  result.columns = type.getNumElements() / result.count;
  result.inputs = type.getShape().back();
  result.numbers.resize(result.columns);
  if (weight.getPanels())
    result.order =
        storage::PanelOrder(cast<storage::BlockType>(type.getElementType()));
  if (weight.getBundles())
    result.bundles.emplace(cast<storage::BlockType>(type.getElementType()),
                           weight.getBundles());
  result.paddedBytes = rowBytes(weight);
  result.buffer.assign(result.paddedBytes, 0);
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

uint64_t WeightRows::rows() const {
  return order ? divideCeil(count, uint64_t(storage::kPanelRows)) : count;
}

uint64_t WeightRows::bytesPerRow() const { return paddedBytes; }

Expected<ArrayRef<uint8_t>> WeightRows::row(uint64_t row) {
  if (bundles) {
    std::vector<uint8_t> blocks(storage.bytes(int64_t(columns)));
    if (Error error = readRow(row, blocks))
      return std::move(error);
    buffer = bundles->pack(blocks);
    return buffer;
  }
  if (!order) {
    if (Error error = readRow(row, buffer))
      return std::move(error);
    return buffer;
  }
  uint64_t first = row * storage::kPanelRows;
  uint64_t all = std::min<uint64_t>(storage::kPanelRows, count - first);
  uint64_t bytes = storage.bytes(int64_t(columns));
  std::vector<uint8_t> matrix(all * bytes);
  for (uint64_t i = 0; i < all; ++i)
    if (Error error =
            readRow(first + i, MutableArrayRef(matrix).slice(i * bytes, bytes)))
      return std::move(error);
  buffer = order->pack(all, columns, matrix);
  return buffer;
}

// The elements of a row; what follows them is left.
Error WeightRows::readRow(uint64_t row, MutableArrayRef<uint8_t> bytes) {
  // The elements of a source of the same storage are taken as they are.
  if (storage == source.storage && !turned) {
    size_t size = storage.bytes(int64_t(columns));
    std::memcpy(bytes.data(), source.bytes.data() + row * size, size);
    if (loss)
      for (uint64_t column = 0; column < columns; ++column)
        numbers[column] = storage.number(bytes, column);
  } else {
    if (!turned && source.storage.divides(int64_t(columns)))
      source.storage.readNumbers(
          source.bytes.slice(row * source.storage.bytes(int64_t(columns)),
                             source.storage.bytes(int64_t(columns))),
          numbers);
    else
      for (uint64_t column = 0; column < columns; ++column)
        numbers[column] = source.storage.number(
            source.bytes, placeOf(row * columns + column));
    if (std::optional<uint64_t> refused = encode(row, bytes))
      return refuse(row, *refused);
  }
  if (loss)
    loss->add(storage, numbers, bytes, importanceOf(row));
  return Error::success();
}

// That of the columns of the matrix which a row belongs to.
ArrayRef<float> WeightRows::importanceOf(uint64_t row) const {
  if (source.importance.empty())
    return {};
  uint64_t parts = source.importance.size() / inputs;
  return source.importance.slice(row * parts / count * inputs, inputs);
}

// A row of what has three dimensions is a matrix.
std::optional<uint64_t>
WeightRows::encode(uint64_t row, MutableArrayRef<uint8_t> bytes) const {
  ArrayRef<float> importance = importanceOf(row);
  if (importance.empty())
    return encoder->encode(numbers, bytes);
  uint64_t size = storage.bytes(int64_t(inputs));
  for (uint64_t first = 0; first < columns; first += inputs)
    if (std::optional<uint64_t> refused = encoder->encodeRow(
            ArrayRef(numbers).slice(first, inputs), importance,
            bytes.slice(first / inputs * size, size)))
      return first + *refused;
  return std::nullopt;
}

// Why a number, or the block that begins with it, cannot be stored.
Error WeightRows::refuse(uint64_t row, uint64_t column) const {
  std::string kind = storage.name().str();
  auto at = [&](unsigned long long column) {
    return formatv("at row {0}, column {1}", row, column).str();
  };
  if (!storage.block())
    return createStringError(
        "tensor '%s' has the element %g %s, which is "
        "beyond %s's largest number, %g",
        name.c_str(), double(numbers[column]), at(column).c_str(), kind.c_str(),
        storage::largestOf(storage::getDenseKind(storage.type())));
  for (uint64_t i = column; i < column + storage.blockElements(); ++i)
    if (!std::isfinite(numbers[i]))
      return createStringError("tensor '%s' has the element %g %s, and blocks "
                               "of %s hold finite numbers alone",
                               name.c_str(), double(numbers[i]), at(i).c_str(),
                               kind.c_str());
  return createStringError("tensor '%s' has a block %s whose largest number no "
                           "scale of %s stands for",
                           name.c_str(), at(column).c_str(), kind.c_str());
}
