#include "dialects/storage/Storage.h"

#include "dialects/storage/BlockDecoder.h"
#include "dialects/storage/BlockNumbers.h"
#include "dialects/storage/DenseKind.h"
#include "dialects/storage/Digits.h"
#include "dialects/storage/Panels.h"
#include "runtime/abi/NarrowFloats.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <bit>
#include <cmath>
#include <cstring>

using namespace effc;
using namespace effc::storage;

std::optional<Storage> Storage::of(mlir::Type element) {
  if (element &&
      (denseKindOf(element) || isa<BlockType, PanelType, DigitsType>(element)))
    return Storage(element);
  return std::nullopt;
}

Storage Storage::get(mlir::Type element) {
  if (std::optional<Storage> storage = of(element))
    return *storage;
  std::string text;
  llvm::raw_string_ostream(text) << "no storage is known of type " << element;
  llvm::report_fatal_error(llvm::StringRef(text));
}

llvm::StringRef Storage::name() const {
  if (BlockType type = block())
    return type.getName();
  if (PanelType type = panel())
    return type.getRows().getName();
  if (digits())
    return "digits";
  return nameOf(getDenseKind(element));
}

mlir::Type Storage::denseType() const {
  return isDense() ? element : mlir::Float32Type::get(element.getContext());
}

int64_t Storage::blockElements() const {
  if (BlockType type = block())
    return type.getElements();
  if (PanelType type = panel())
    return type.getRows().getElements();
  return digits() ? DigitsLayout::kNumbers : 1;
}

int64_t Storage::blockRows() const { return panel() ? kPanelRows : 1; }

int64_t Storage::blockBytes() const {
  if (BlockType type = block())
    return type.getBytes();
  if (PanelType type = panel())
    return PanelLayout::of(type.getRows()).bytes;
  if (DigitsType type = digits())
    return DigitsLayout{type.getCount()}.bytes();
  return bytesOf(getDenseKind(element));
}

int64_t Storage::bytes(int64_t elements) const {
  int64_t each = blockElements() * blockRows();
  assert(elements % each == 0 && "expects whole blocks");
  return elements / each * blockBytes();
}

int64_t Storage::matrixBytes(int64_t rows, int64_t columns) const {
  return bytes(llvm::alignTo(rows, blockRows()) * columns);
}

int64_t Storage::paddedElements(int64_t elements, int64_t alignment) const {
  if (!isDense())
    return elements;
  return llvm::alignTo(elements, alignment / blockBytes());
}

template <typename T>
static T read(llvm::ArrayRef<uint8_t> bytes, uint64_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
  return value;
}

float Storage::number(llvm::ArrayRef<uint8_t> bytes, uint64_t index) const {
  if (BlockType type = block()) {
    uint64_t each = type.getElements();
    return blockNumber(
        type, bytes.slice(index / each * type.getBytes(), type.getBytes()),
        int64_t(index % each));
  }
  if (DigitsType type = digits()) {
    DigitsLayout layout{type.getCount()};
    uint64_t each = DigitsLayout::kNumbers, size = layout.bytes();
    return numberOfDigits(type.getCount(),
                          bytes.slice(index / each * size, size),
                          int64_t(index % each));
  }
  switch (getDenseKind(element)) {
  case DenseKind::F32:
    return read<float>(bytes, index);
  case DenseKind::BF16:
    return rt::fromBF16(read<uint16_t>(bytes, index));
  case DenseKind::F16:
    return rt::fromF16(read<uint16_t>(bytes, index));
  case DenseKind::I32:
  case DenseKind::I64:
    break;
  }
  llvm::report_fatal_error("integers are not read as f32");
}

void Storage::readNumbers(llvm::ArrayRef<uint8_t> bytes,
                          llvm::MutableArrayRef<float> numbers) const {
  if (BlockType type = block())
    return BlockDecoder(type).decode(bytes, numbers);
  // What is read is asked once, and not of each number.
  switch (isDense() ? getDenseKind(element) : DenseKind::I32) {
  case DenseKind::F32:
    std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(float));
    return;
  case DenseKind::BF16:
    for (auto [i, value] : llvm::enumerate(numbers))
      value = rt::fromBF16(read<uint16_t>(bytes, i));
    return;
  case DenseKind::F16:
    for (auto [i, value] : llvm::enumerate(numbers))
      value = rt::fromF16(read<uint16_t>(bytes, i));
    return;
  case DenseKind::I32:
  case DenseKind::I64:
    break;
  }
  for (auto [i, value] : llvm::enumerate(numbers))
    value = number(bytes, i);
}
