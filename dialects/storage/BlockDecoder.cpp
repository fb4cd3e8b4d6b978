#include "dialects/storage/BlockDecoder.h"

#include "dialects/storage/FieldNumbers.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace effc;
using namespace effc::storage;

BlockDecoder::BlockDecoder(BlockType type) : type(type) {
  FieldAttr code = type.getCode();
  for (uint64_t bits = 0; bits < uint64_t(1) << code.bits(); ++bits)
    codes.push_back(fieldValue(code, bits));
  std::map<std::vector<int64_t>, uint32_t> known;
  for (int64_t element = 0; element < type.getElements(); ++element) {
    int64_t below = 0;
    for (auto [piece, width] : llvm::enumerate(code.getWidths())) {
      int64_t bit = code.firstBit(int64_t(piece), type.getDigits(), element);
      for (int64_t left = width; left > 0; left -= 8, bit += 8) {
        int64_t here = std::min<int64_t>(left, 8);
        pieces.push_back({uint32_t(bit / 8), uint8_t(bit % 8),
                          uint8_t((1 << here) - 1), uint8_t(below)});
        below += here;
      }
    }
    std::vector<int64_t> places;
    for (llvm::ArrayRef<FieldAttr> factors :
         {type.getZero(), type.getScale(), type.getPlus(), type.getMinus()})
      for (FieldAttr field : factors)
        for (int64_t piece = 0; piece < field.pieces(); ++piece)
          places.push_back(field.firstBit(piece, type.getDigits(), element));
    auto [at, isNew] =
        known.try_emplace(std::move(places), uint32_t(known.size()));
    if (isNew)
      firstOf.push_back(element);
    groups.push_back(at->second);
  }
  piecesEach = pieces.size() / size_t(type.getElements());
}

BlockDecoder::Factors BlockDecoder::factorsAt(llvm::ArrayRef<uint8_t> block,
                                              int64_t element) const {
  auto product = [&](llvm::ArrayRef<FieldAttr> fields) {
    double result = 1;
    for (FieldAttr field : fields)
      result *=
          fieldValue(field, fieldBits(field, type.getDigits(), block, element));
    return result;
  };
  return {type.getZero().empty() ? 0 : product(type.getZero()),
          product(type.getScale()), product(type.getPlus()),
          product(type.getMinus())};
}

void BlockDecoder::decode(llvm::ArrayRef<uint8_t> blocks,
                          llvm::MutableArrayRef<float> numbers) const {
  auto elements = size_t(type.getElements()), bytes = size_t(type.getBytes());
  // A product without factors is 1, and nothing is added then: not even 0, which
  // would take the sign of another.
  bool hasPlus = !type.getPlus().empty(), hasMinus = !type.getMinus().empty();
  std::vector<Factors> factors(firstOf.size());
  for (size_t first = 0; first < numbers.size(); first += elements) {
    auto block = blocks.slice(first / elements * bytes, bytes);
    for (auto [group, element] : llvm::zip_equal(factors, firstOf))
      group = factorsAt(block, element);
    const Piece *piece = pieces.data();
    for (size_t i = 0; i < elements; ++i) {
      uint32_t bits = 0;
      for (size_t n = 0; n < piecesEach; ++n, ++piece)
        bits |= uint32_t(block[piece->byte] >> piece->shift & piece->mask)
                << piece->below;
      const Factors &group = factors[groups[i]];
      double number = (codes[bits] - group.zero) * group.scale;
      if (hasPlus)
        number += group.plus;
      if (hasMinus)
        number -= group.minus;
      numbers[first + i] = float(number);
    }
  }
}
