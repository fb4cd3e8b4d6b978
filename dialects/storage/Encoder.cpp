#include "dialects/storage/Encoder.h"

#include "dialects/storage/BlockNumbers.h"
#include "dialects/storage/DenseKind.h"
#include "dialects/storage/rounding/RoundingRules.h"
#include "runtime/abi/NarrowFloats.h"

#include "llvm/Support/ErrorHandling.h"

#include <cmath>
#include <cstring>

using namespace effc;
using namespace effc::storage;

std::optional<Encoder> Encoder::of(Storage storage) {
  BlockType type = storage.block();
  Rounding rounding = type ? roundingOf(type) : nullptr;
  if (type ? rounding || hasEncoding(type)
           : storage.isDense() && !storage.isInteger())
    return Encoder(storage, rounding);
  return std::nullopt;
}

static std::optional<uint64_t>
encodeBlocks(BlockType type, Rounding rounding, llvm::ArrayRef<float> row,
             llvm::ArrayRef<float> importance,
             llvm::MutableArrayRef<uint8_t> bytes) {
  Importance ofBlock;
  if (!importance.empty())
    ofBlock.rowSquare = meanSquareOf(row);
  uint64_t each = type.getElements();
  for (uint64_t i = 0; i < row.size(); i += each) {
    if (!importance.empty())
      ofBlock.columns = importance.slice(i, each);
    if (!encodeBlock(type, rounding, row.slice(i, each), ofBlock,
                     bytes.slice(i / each * type.getBytes(), type.getBytes())))
      return i;
  }
  return std::nullopt;
}

/// Numbers that `Narrow` makes 16 bits of, whose infinity is `infinity`.
template <uint16_t Narrow(float), uint16_t infinity>
static std::optional<uint64_t>
encodeHalves(llvm::ArrayRef<float> numbers,
             llvm::MutableArrayRef<uint8_t> bytes) {
  for (auto [i, value] : llvm::enumerate(numbers)) {
    uint16_t bits = Narrow(value);
    if (std::isfinite(value) && (bits & 0x7fff) == infinity)
      return i;
    std::memcpy(bytes.data() + i * 2, &bits, 2);
  }
  return std::nullopt;
}

std::optional<uint64_t>
Encoder::encodeRow(llvm::ArrayRef<float> numbers,
                   llvm::ArrayRef<float> importance,
                   llvm::MutableArrayRef<uint8_t> bytes) const {
  if (BlockType type = storage.block())
    return encodeBlocks(type, rounding, numbers, importance, bytes);
  switch (getDenseKind(storage.type())) {
  case DenseKind::F32:
    std::memcpy(bytes.data(), numbers.data(), numbers.size() * 4);
    return std::nullopt;
  case DenseKind::BF16:
    return encodeHalves<rt::toBF16, 0x7f80>(numbers, bytes);
  case DenseKind::F16:
    return encodeHalves<rt::toF16, 0x7c00>(numbers, bytes);
  case DenseKind::I32:
  case DenseKind::I64:
    break;
  }
  llvm::report_fatal_error("numbers are not written as integers");
}

bool Storage::isEncodable() const { return Encoder::of(*this).has_value(); }

std::optional<uint64_t>
Storage::encode(llvm::ArrayRef<float> numbers,
                llvm::MutableArrayRef<uint8_t> bytes) const {
  return Encoder::of(*this)->encode(numbers, bytes);
}
