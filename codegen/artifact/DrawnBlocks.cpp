#include "codegen/artifact/DrawnBlocks.h"

using namespace effc;
using namespace effc::codegen;
using storage::FieldAttr;
using storage::FieldKind;

namespace {

class Draw {
public:
  explicit Draw(storage::BlockType type) : type(type) {
    bits.drawn.resize(type.getBytes());
    bits.set.resize(type.getBytes());
  }

  /// Of every element's field: the bits of `drawn`, and those of `set`.
  void field(FieldAttr field, uint64_t drawn, uint64_t set) {
    llvm::ArrayRef<int64_t> digits = type.getDigits();
    for (int64_t element = 0; element < type.getElements(); ++element) {
      uint64_t left[] = {drawn, set};
      for (int64_t piece = 0; piece < field.pieces(); ++piece) {
        int64_t bit = field.firstBit(piece, digits, element);
        for (int64_t i = 0; i < field.getWidths()[piece]; ++i, ++bit) {
          mark(bits.drawn, bit, left[0] & 1);
          mark(bits.set, bit, left[1] & 1);
          left[0] >>= 1, left[1] >>= 1;
        }
      }
    }
  }

  /// A factor of about 2^exponent.
  void factor(FieldAttr of, int64_t exponent) {
    auto power = [&](int64_t bias, int64_t fraction) {
      int64_t biased = std::clamp<int64_t>(exponent + bias, 1, 2 * bias);
      field(of, (uint64_t(1) << fraction) - 1, uint64_t(biased) << fraction);
    };
    switch (of.getKind()) {
    case FieldKind::Unsigned:
    case FieldKind::Signed:
      return field(of, ~uint64_t(0), 0);
    case FieldKind::Half:
      return power(15, 10);
    case FieldKind::Brain:
      return power(127, 7);
    case FieldKind::Single:
      return power(127, 23);
    case FieldKind::Exponent:
      return power(127, 0);
    case FieldKind::E4M3:
      return power(7, 3);
    case FieldKind::E5M2:
      return power(15, 2);
    }
  }

  /// The largest magnitude of an integer has so many bits.
  static int64_t integerBits(FieldAttr field) {
    return field.isInteger() ? field.bits() : 0;
  }

  DrawnBits take() { return std::move(bits); }

private:
  static void mark(std::vector<uint8_t> &bytes, int64_t bit, uint64_t value) {
    bytes[bit / 8] |= uint8_t(value << bit % 8);
  }

  storage::BlockType type;
  DrawnBits bits;
};

} // namespace

DrawnBits effc::codegen::drawnBits(storage::BlockType type) {
  Draw draw(type);
  FieldAttr code = type.getCode();
  // Of numbers of 8 bits those below 2, without the highest bit of the exponent.
  draw.field(code, code.isInteger() ? ~uint64_t(0) : 0xbf, 0);
  int64_t codeBits = code.isInteger() ? code.bits() : 1;
  if (auto [least, largest] = code.range(); !code.getTable().empty())
    codeBits = llvm::bit_width(uint64_t(std::max(-least, largest)));
  for (FieldAttr zero : type.getZero()) {
    draw.field(zero, ~uint64_t(0), 0);
    codeBits = std::max(codeBits, zero.bits()) + 1;
  }
  // The integers of a product are at most 2^bits together: its one other factor
  // makes up for them.
  auto product = [&](llvm::ArrayRef<FieldAttr> factors, int64_t integers) {
    for (FieldAttr field : factors)
      integers += Draw::integerBits(field);
    for (FieldAttr field : factors)
      draw.factor(field, -6 - integers);
  };
  product(type.getScale(), codeBits);
  product(type.getPlus(), 0);
  product(type.getMinus(), 0);
  return draw.take();
}
