// Blocks from codes, zeros and scales that lie apart, of many blocks of one type.
#ifndef EFFC_DIALECTS_STORAGE_BLOCKASSEMBLER_H
#define EFFC_DIALECTS_STORAGE_BLOCKASSEMBLER_H

#include "dialects/storage/StorageDialect.h"

#include <vector>

namespace effc::storage {

/// Finds out once where a block has what; BlockDecoder.h goes the other way.
class BlockAssembler {
public:
  /// A type with codes of at most 8 bits, with one scale for the block and with at
  /// most a zero beside it, which are whole bytes.
  explicit BlockAssembler(BlockType type);

  /// Writes a block: of each element its code's bits, lowest first; the bits of the
  /// scale and of the zero.
  void write(llvm::ArrayRef<uint8_t> codes, uint32_t scale, uint8_t zero,
             llvm::MutableArrayRef<uint8_t> block) const;

private:
  /// Bits of an element's code that lie in a byte, and where the code has them.
  struct Piece {
    uint32_t byte;
    uint8_t shift, mask, below;
  };
  std::vector<Piece> pieces; ///< of element after element, as many of each
  size_t piecesEach;
  int64_t scaleByte, scaleBytes;
  int64_t zeroByte = -1; ///< -1: there is none
};

} // namespace effc::storage

#endif // EFFC_DIALECTS_STORAGE_BLOCKASSEMBLER_H
