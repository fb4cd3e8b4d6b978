#include "dialects/storage/BlockNumbers.h"

#include "dialects/storage/FieldNumbers.h"
#include "runtime/abi/NarrowFloats.h"

#include "llvm/ADT/STLExtras.h"

#include <bit>
#include <cmath>

using namespace effc;
using namespace effc::storage;

float storage::blockNumber(BlockType type, llvm::ArrayRef<uint8_t> block,
                           int64_t element) {
  auto product = [&](llvm::ArrayRef<FieldAttr> factors, double start) {
    for (FieldAttr field : factors)
      start *=
          fieldValue(field, fieldBits(field, type.getDigits(), block, element));
    return start;
  };
  double code = product(type.getCode(), 1);
  if (!type.getZero().empty())
    code -= product(type.getZero(), 1);
  double number = product(type.getScale(), code);
  if (!type.getPlus().empty())
    number += product(type.getPlus(), 1);
  if (!type.getMinus().empty())
    number -= product(type.getMinus(), 1);
  return float(number);
}

// The codes of a type stand for integers of -most to most, and some for more; 0
// where they follow another rule.
static int64_t mostOf(FieldAttr code) {
  if (!code.isInteger() || !code.getTable().empty())
    return 0;
  auto [least, largest] = code.range();
  return std::min(largest, -least);
}

bool storage::hasEncoding(BlockType type) {
  if (type.getScale().size() != 1 || !type.getZero().empty() ||
      !type.getPlus().empty() || !type.getMinus().empty() ||
      mostOf(type.getCode()) < 1)
    return false;
  FieldAttr scale = type.getScale().front();
  return !scale.isInteger() && scale.bits() >= 16 &&
         llvm::all_of(scale.getStrides(), [](int64_t s) { return s == 0; });
}

static void setBits(FieldAttr field, llvm::ArrayRef<int64_t> digits,
                    llvm::MutableArrayRef<uint8_t> block, int64_t element,
                    uint64_t value) {
  for (auto [piece, width] : llvm::enumerate(field.getWidths())) {
    int64_t bit = field.firstBit(int64_t(piece), digits, element);
    uint64_t mask = (uint64_t(1) << std::min<int64_t>(width, 8)) - 1;
    for (int64_t byte = bit / 8, left = width; left > 0; ++byte, left -= 8) {
      auto kept = uint8_t(block[byte] & ~(mask << bit % 8));
      block[byte] = uint8_t(kept | (value & mask) << bit % 8);
      value >>= std::min<int64_t>(left, 8);
    }
  }
}

// The bits of a number as a field of floating-point numbers has them.
static uint64_t roundTo(FieldKind kind, float number) {
  switch (kind) {
  case FieldKind::Half:
    return rt::toF16(number);
  case FieldKind::Brain:
    return rt::toBF16(number);
  case FieldKind::Single:
    return std::bit_cast<uint32_t>(number);
  case FieldKind::Unsigned:
  case FieldKind::Signed:
  case FieldKind::Exponent:
  case FieldKind::E4M3:
  case FieldKind::E5M2:
    break;
  }
  llvm::report_fatal_error("numbers are not rounded to a field of this kind");
}

// The rule of blocks without a name, and of quantize_row_q8_0_ref.
static bool encodeByLargest(BlockType type, llvm::ArrayRef<float> numbers,
                            llvm::MutableArrayRef<uint8_t> block) {
  float largest = 0;
  for (float number : numbers)
    largest = std::max(largest, std::fabs(number));
  FieldAttr code = type.getCode(), scaleField = type.getScale().front();
  float scale = largest / float(mostOf(code));
  float inverse = scale != 0 ? 1 / scale : 0;
  if (!std::isfinite(inverse)) // so small that a block of zeros is as near
    scale = inverse = 0;
  uint64_t bits = roundTo(scaleField.getKind(), scale);
  if (!std::isfinite(fieldValue(scaleField, bits)))
    return false;
  setBits(scaleField, type.getDigits(), block, 0, bits);
  for (auto [i, number] : llvm::enumerate(numbers))
    setBits(code, type.getDigits(), block, int64_t(i),
            uint64_t(int64_t(std::round(number * inverse)) - code.getBias()));
  return true;
}

// Factors of a scale or an offset: the first is the block's, the second that of
// each group. False where the first is not finite.
static bool setFactors(BlockType type, llvm::ArrayRef<FieldAttr> factors,
                       uint32_t first, llvm::ArrayRef<uint32_t> second,
                       llvm::MutableArrayRef<uint8_t> block) {
  if (factors.empty())
    return true;
  setBits(factors[0], type.getDigits(), block, 0, first);
  for (auto [g, bits] : llvm::enumerate(second))
    setBits(factors[1], type.getDigits(), block,
            int64_t(g) * type.getElements() / int64_t(second.size()), bits);
  return std::isfinite(fieldValue(factors[0], first));
}

bool storage::encodeBlock(BlockType type, Rounding rounding,
                          llvm::ArrayRef<float> numbers,
                          const Importance &importance,
                          llvm::MutableArrayRef<uint8_t> block) {
  if (!llvm::all_of(numbers, [](float n) { return std::isfinite(n); }))
    return false;
  std::fill(block.begin(), block.end(), 0);
  if (!rounding)
    return encodeByLargest(type, numbers, block);
  // The largest number of a block with a scale of f16 is below 2^28 (65504 times
  // 128 and 32). From 2^41 on, sums of third powers would overflow before a scale
  // did.
  if (type.getScale().front().getKind() == FieldKind::Half &&
      llvm::any_of(numbers, [](float n) { return std::fabs(n) > 0x1p30f; }))
    return false;
  RoundedBlock rounded;
  rounding(type, numbers, importance, rounded);
  for (auto [i, code] : llvm::enumerate(rounded.codes))
    setBits(type.getCode(), type.getDigits(), block, int64_t(i), code);
  llvm::ArrayRef<FieldAttr> offset =
      type.getPlus().empty() ? type.getMinus() : type.getPlus();
  return setFactors(type, type.getScale(), rounded.scale, rounded.groupScales,
                    block) &&
         setFactors(type, offset, rounded.offset, rounded.groupOffsets, block);
}
