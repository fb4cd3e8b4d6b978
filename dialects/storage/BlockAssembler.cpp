#include "dialects/storage/BlockAssembler.h"

#include "dialects/storage/Bytes.h"

#include "llvm/ADT/STLExtras.h"

using namespace effc;
using namespace effc::storage;

// The byte at which a field of all elements begins.
static int64_t byteOf(FieldAttr field, BlockType type) {
  assert(field.pieces() == 1 &&
         llvm::all_of(field.getStrides(), [](int64_t s) { return s == 0; }));
  return wholeBytes(field.firstBit(0, type.getDigits(), 0));
}

BlockAssembler::BlockAssembler(BlockType type)
    : piecesEach(size_t(type.getCode().pieces())) {
  assert(type.getScale().size() == 1 && type.getPlus().empty() &&
         type.getMinus().empty() && type.getCode().bits() <= 8);
  FieldAttr code = type.getCode(), scale = type.getScale().front();
  for (int64_t element = 0; element < type.getElements(); ++element) {
    int64_t below = 0;
    for (auto [piece, width] : llvm::enumerate(code.getWidths())) {
      int64_t bit = code.firstBit(int64_t(piece), type.getDigits(), element);
      pieces.push_back({uint32_t(bit / 8), uint8_t(bit % 8),
                        uint8_t((1 << width) - 1), uint8_t(below)});
      below += width;
    }
  }
  scaleByte = byteOf(scale, type);
  scaleBytes = scale.bytes();
  if (!type.getZero().empty())
    zeroByte = byteOf(type.getZero().front(), type);
}

void BlockAssembler::write(llvm::ArrayRef<uint8_t> codes, uint32_t scale,
                           uint8_t zero,
                           llvm::MutableArrayRef<uint8_t> block) const {
  std::fill(block.begin(), block.end(), uint8_t(0));
  const Piece *piece = pieces.data();
  for (uint8_t code : codes)
    for (size_t n = 0; n < piecesEach; ++n, ++piece)
      block[piece->byte] |=
          uint8_t((code >> piece->below & piece->mask) << piece->shift);
  for (int64_t i = 0; i < scaleBytes; ++i)
    block[scaleByte + i] = uint8_t(scale >> 8 * i);
  if (zeroByte >= 0)
    block[zeroByte] = zero;
}
