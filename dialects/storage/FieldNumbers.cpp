#include "dialects/storage/FieldNumbers.h"

#include "runtime/abi/NarrowFloats.h"

#include "llvm/ADT/STLExtras.h"

#include <bit>
#include <cmath>

using namespace effc;
using namespace effc::storage;

// A piece is whole bytes, or a part of one (STORED3).
uint64_t storage::fieldBits(FieldAttr field, llvm::ArrayRef<int64_t> digits,
                            llvm::ArrayRef<uint8_t> block, int64_t element) {
  uint64_t value = 0;
  int64_t below = 0;
  for (auto [piece, width] : llvm::enumerate(field.getWidths())) {
    int64_t bit = field.firstBit(int64_t(piece), digits, element);
    uint64_t bits = block[bit / 8] >> bit % 8;
    for (int64_t byte = 1; 8 * byte < width; ++byte)
      bits |= uint64_t(block[bit / 8 + byte]) << 8 * byte;
    value |= (bits & ((uint64_t(1) << width) - 1)) << below;
    below += width;
  }
  return value;
}

double storage::fieldValue(FieldAttr field, uint64_t bits) {
  switch (field.getKind()) {
  case FieldKind::Unsigned:
  case FieldKind::Signed: {
    if (!field.getTable().empty())
      return double(field.getTable()[bits]);
    int64_t width = field.bits();
    auto integer = int64_t(bits);
    if (field.getKind() == FieldKind::Signed && bits >> (width - 1) & 1)
      integer -= int64_t(1) << width;
    return double(integer + field.getBias());
  }
  case FieldKind::Half:
    return rt::fromF16(uint16_t(bits));
  case FieldKind::Brain:
    return rt::fromBF16(uint16_t(bits));
  case FieldKind::Single:
    return std::bit_cast<float>(uint32_t(bits));
  case FieldKind::E4M3: // an f16 but for its bias, and for its one NaN
    return (bits & 0x7f) == 0x7f
               ? std::nan("")
               : 256 * double(rt::fromF16(
                           uint16_t((bits & 0x80) << 8 | (bits & 0x7f) << 7)));
  case FieldKind::E5M2:
    return rt::fromF16(uint16_t(bits << 8));
  case FieldKind::Exponent:
    return bits == 255
               ? std::nan("")
               : std::ldexp(1.0, int(bits) - 127 + int(field.getBias()));
  }
  llvm_unreachable("every kind is listed");
}
