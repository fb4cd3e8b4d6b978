#include "codegen/storage/CodePlaces.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace effc;
using namespace effc::stored;
using storage::BlockType;
using storage::FieldAttr;
using storage::FieldKind;

/// Bits of an f32's fraction, and of its significand.
static constexpr int64_t kFraction = 23, kSignificand = 24;

bool CodePlaces::isShared(FieldAttr field) {
  for (int64_t piece = 0; piece < field.pieces(); ++piece)
    if (field.stridesOf(piece).back() != 0)
      return false;
  return true;
}

// The significant bits of a scale, at most; absent of one whose products with numbers
// near 2^23 may leave the range of f32.
static std::optional<int64_t> significantBits(FieldAttr scale) {
  if (scale.getKind() == FieldKind::Half)
    return 11;
  if (!scale.isInteger() || !scale.getTable().empty())
    return std::nullopt;
  auto [least, largest] = scale.range();
  return llvm::bit_width(
      uint64_t(std::max(std::abs(least), std::abs(largest))));
}

// How many places take the fewest instructions: each has two products of the scale, and
// a shift serves as many neighbours as there are places.
static int64_t countOf(int64_t lanes, int64_t most) {
  auto cost = [&](int64_t count) {
    return int64_t(llvm::divideCeil(lanes, count)) + 2 * count;
  };
  int64_t best = 1;
  for (int64_t count = 2; count <= most; ++count)
    if (cost(count) < cost(best))
      best = count;
  return best;
}

bool CodePlaces::isExact(BlockType type, int64_t above) {
  int64_t ofScale = 0, mostZero = 0;
  for (FieldAttr scale : type.getScale()) {
    std::optional<int64_t> bits = significantBits(scale);
    if (!bits || !isShared(scale))
      return false;
    ofScale += *bits;
  }
  for (FieldAttr zero : type.getZero()) {
    if (!isShared(zero) || !zero.getTable().empty())
      return false;
    mostZero = std::max(std::abs(zero.range().first), zero.range().second);
  }
  int64_t bits =
      mostZero > 0 ? llvm::bit_width(uint64_t(std::abs(above) + mostZero))
      : above == 0 ? 0
                   : llvm::bit_width(uint64_t(std::abs(above)) >>
                                     llvm::countr_zero(uint64_t(above)));
  return bits + ofScale <= kSignificand;
}

std::optional<CodePlaces> CodePlaces::of(BlockType type, int64_t lanes) {
  FieldAttr code = type.getCode();
  if (!code.isInteger() || !code.getTable().empty() ||
      code.bits() >= kFraction || type.getScale().empty())
    return std::nullopt;
  CodePlaces places;
  places.flip =
      code.getKind() == FieldKind::Signed ? int64_t(1) << (code.bits() - 1) : 0;
  places.zero = places.flip - code.getBias();
  auto isExact = [&](int64_t bit) {
    return CodePlaces::isExact(type,
                               (int64_t(1) << (kFraction - bit)) + places.zero);
  };
  int64_t apart = code.getWidths().front();
  llvm::SmallVector<int64_t> exact; // the highest first
  for (int64_t bit = kFraction - code.bits(); bit >= 0 && isExact(bit);
       bit -= apart)
    exact.push_back(bit);
  if (exact.empty())
    return std::nullopt;
  exact.truncate(countOf(lanes, exact.size()));
  places.bits.assign(exact.rbegin(), exact.rend());
  return places;
}
