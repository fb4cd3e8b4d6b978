#include "codegen/artifact/NonFinite.h"

#include "dialects/storage/Bytes.h"
#include "dialects/storage/DenseKind.h"

#include <cmath>
#include <cstring>

using namespace llvm;
using namespace effc;
using namespace effc::codegen;

namespace {
/// Where an element's bits have its exponent, its mantissa and its sign.
template <typename Bits> struct Format {
  Bits exponent, mantissa, sign;
};
} // namespace

// The first element whose exponent is all ones, and whose mantissa is not 0
// where a NaN is looked for. Blocks without such an exponent are passed in a
// loop that compilers vectorise.
template <typename Bits>
static std::optional<uint64_t> find(ArrayRef<uint8_t> bytes,
                                    Format<Bits> format, bool onlyNaN) {
  constexpr uint64_t kBlock = 4096;
  uint64_t count = bytes.size() / sizeof(Bits);
  Bits block[kBlock];
  for (uint64_t first = 0; first < count; first += kBlock) {
    uint64_t size = std::min(kBlock, count - first);
    std::memcpy(block, bytes.data() + first * sizeof(Bits),
                size * sizeof(Bits));
    bool any = false;
    for (uint64_t i = 0; i < size; ++i)
      any |= (block[i] & format.exponent) == format.exponent;
    for (uint64_t i = 0; any && i < size; ++i)
      if ((block[i] & format.exponent) == format.exponent &&
          (!onlyNaN || (block[i] & format.mantissa)))
        return first + i;
  }
  return std::nullopt;
}

static std::string placeOf(uint64_t index, ArrayRef<uint64_t> shape) {
  SmallVector<uint64_t> place;
  for (uint64_t extent : reverse(shape)) {
    place.insert(place.begin(), index % extent);
    index /= extent;
  }
  std::string text;
  for (uint64_t coordinate : place)
    text += (text.empty() ? "" : ", ") + std::to_string(coordinate);
  return "[" + text + "]";
}

template <typename Bits>
static std::optional<NonFinite> findIn(const SourceTensor &tensor,
                                       Format<Bits> format) {
  std::optional<uint64_t> at = find(tensor.bytes, format, /*onlyNaN=*/false);
  if (!at)
    return std::nullopt;
  if (auto nan = find(tensor.bytes, format, /*onlyNaN=*/true))
    return NonFinite{placeOf(*nan, tensor.shape), true, "NaN"};
  Bits bits;
  std::memcpy(&bits, tensor.bytes.data() + *at * sizeof(Bits), sizeof(Bits));
  return NonFinite{placeOf(*at, tensor.shape), false,
                   bits & format.sign ? "-inf" : "inf"};
}

namespace {

/// The floating-point fields of a block, which alone can make its numbers infinite or
/// none: integers beside them take up to 24 bits (STORED6).
class FloatingFields {
public:
  explicit FloatingFields(storage::BlockType type) {
    if (!type.getCode().isInteger())
      add(type, type.getCode());
    for (ArrayRef<storage::FieldAttr> factors :
         {type.getScale(), type.getPlus(), type.getMinus()}) {
      int64_t floating = 0;
      for (storage::FieldAttr field : factors)
        if (!field.isInteger()) {
          add(type, field);
          ++floating;
        }
      multiply |= floating > 1;
    }
  }

  /// Whether a number of the block may be infinite or none: a field has the largest
  /// exponent of its 16 or 8 bits, or one from 2^97 on, or fields are multiplied.
  bool areSuspect(const uint8_t *block) const {
    return multiply || any_of(places, [&](const Place &place) {
             uint32_t bits = 0;
             for (int64_t i = 0; i < place.bytes; ++i)
               bits |= uint32_t(block[place.byte + i]) << 8 * i;
             return (bits & place.exponents) == place.exponents;
           });
  }

private:
  struct Place {
    int64_t byte, bytes;
    uint32_t exponents;
    bool operator==(const Place &) const = default;
  };

  static uint32_t largestExponents(storage::FieldKind kind) {
    switch (kind) {
    case storage::FieldKind::Half:
      return 0x7c00;
    case storage::FieldKind::Brain:
      return 0x7000;
    case storage::FieldKind::Exponent:
      return 0xe0;
    case storage::FieldKind::E4M3:
      return 0x7f; // the one NaN
    case storage::FieldKind::E5M2:
      return 0x7c;
    case storage::FieldKind::Single:
      return 0x70000000;
    case storage::FieldKind::Unsigned:
    case storage::FieldKind::Signed:
      break;
    }
    llvm_unreachable("integers have no exponents");
  }

  // Such a field is whole bytes (FIELD2, STORED3).
  void add(storage::BlockType type, storage::FieldAttr field) {
    for (int64_t element = 0; element < type.getElements(); ++element) {
      int64_t bit = field.firstBit(0, type.getDigits(), element);
      Place place{storage::wholeBytes(bit), field.bytes(),
                  largestExponents(field.getKind())};
      if (!is_contained(places, place))
        places.push_back(place);
    }
  }

  SmallVector<Place> places;
  bool multiply = false;
};

} // namespace

// Where no field is suspect the numbers are not looked at, which takes far longer.
static std::optional<NonFinite> findInBlocks(const SourceTensor &tensor) {
  storage::BlockType type = tensor.storage.block();
  FloatingFields fields(type);
  uint64_t each = type.getElements(), size = type.getBytes();
  std::optional<NonFinite> infinite;
  for (uint64_t block = 0; block < tensor.bytes.size() / size; ++block) {
    if (!fields.areSuspect(tensor.bytes.data() + block * size))
      continue;
    for (uint64_t i = block * each; i < (block + 1) * each; ++i) {
      float number = tensor.storage.number(tensor.bytes, i);
      if (std::isnan(number))
        return NonFinite{placeOf(i, tensor.shape), true, "NaN"};
      if (std::isinf(number) && !infinite)
        infinite = NonFinite{placeOf(i, tensor.shape), false,
                             number < 0 ? "-inf" : "inf"};
    }
  }
  return infinite;
}

std::optional<NonFinite>
effc::codegen::findNonFinite(const SourceTensor &tensor) {
  if (tensor.storage.block())
    return findInBlocks(tensor);
  switch (storage::getDenseKind(tensor.storage.type())) {
  case storage::DenseKind::F32:
    return findIn<uint32_t>(tensor, {0x7f800000, 0x007fffff, 0x80000000});
  case storage::DenseKind::BF16:
    return findIn<uint16_t>(tensor, {0x7f80, 0x007f, 0x8000});
  case storage::DenseKind::F16:
    return findIn<uint16_t>(tensor, {0x7c00, 0x03ff, 0x8000});
  case storage::DenseKind::I32:
  case storage::DenseKind::I64:
    return std::nullopt;
  }
  llvm_unreachable("every kind is listed");
}
