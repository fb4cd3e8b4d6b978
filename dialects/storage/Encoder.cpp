#include "dialects/storage/Encoder.h"

#include "dialects/storage/BlockNumbers.h"
#include "runtime/abi/NarrowFloats.h"

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

std::optional<uint64_t>
Encoder::encode(llvm::ArrayRef<float> numbers,
                llvm::MutableArrayRef<uint8_t> bytes) const {
  if (BlockType type = storage.block()) {
    uint64_t each = type.getElements();
    for (uint64_t i = 0; i < numbers.size(); i += each)
      if (!encodeBlock(
              type, rounding, numbers.slice(i, each),
              bytes.slice(i / each * type.getBytes(), type.getBytes())))
        return i;
    return std::nullopt;
  }
  if (storage.isF32()) {
    std::memcpy(bytes.data(), numbers.data(), numbers.size() * 4);
    return std::nullopt;
  }
  bool brain = storage.type().isBF16();
  for (auto [i, value] : llvm::enumerate(numbers)) {
    uint16_t bits = brain ? rt::toBF16(value) : rt::toF16(value);
    if (std::isfinite(value) && (bits & 0x7fff) == (brain ? 0x7f80 : 0x7c00))
      return i;
    std::memcpy(bytes.data() + i * 2, &bits, 2);
  }
  return std::nullopt;
}

bool Storage::isEncodable() const { return Encoder::of(*this).has_value(); }

std::optional<uint64_t>
Storage::encode(llvm::ArrayRef<float> numbers,
                llvm::MutableArrayRef<uint8_t> bytes) const {
  return Encoder::of(*this)->encode(numbers, bytes);
}
