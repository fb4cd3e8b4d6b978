// What the fields of a run of neighbours in a block hold, as bits in registers.
#ifndef EFFC_CODEGEN_STORAGE_BLOCKBITS_H
#define EFFC_CODEGEN_STORAGE_BLOCKBITS_H

#include "codegen/storage/StoredElements.h"

namespace effc::stored {

/// Code for a run of neighbours that share all digits but the last.
class BlockBits {
public:
  /// i32, and lanes: 1 or all of the run.
  using Bits = std::pair<mlir::Value, int64_t>;

  /// `stored` is a block, or a panel, which `type` describes. Loads what the elements
  /// from `place` on share, and codes that lie in words; other fields are loaded
  /// where they are asked for.
  BlockBits(mlir::OpBuilder &b, mlir::Location loc, mlir::Type stored,
            storage::BlockType type, int64_t lanes, const ElementPlace &place);

  /// A field's bits, the pieces side by side, the first lowest.
  Bits of(storage::FieldAttr field);
  /// The bits of a piece in all lanes, in words of 32 or one that is shorter, where they
  /// follow one another and the words are aligned: one load. Else nothing.
  llvm::ArrayRef<mlir::Value> wordsOf(storage::FieldAttr field, int64_t piece);
  /// A lane's bits of such words, from bit `to` on: shifted, then masked, so that lanes
  /// which are shifted alike share the shift.
  mlir::Value bitsIn(llvm::ArrayRef<mlir::Value> words, int64_t width,
                     int64_t lane, int64_t to);
  /// The address that the kernel was given.
  mlir::Value getOperand() const { return operand; }

  mlir::Value constant(mlir::Type element, int64_t count, int64_t value);
  /// A scalar in all lanes.
  mlir::Value splat(mlir::Value scalar);

private:
  void split(const ElementPlace &place);
  mlir::Value firstBit(storage::FieldAttr field, int64_t piece, int64_t lane);
  int64_t alignmentOf(storage::FieldAttr field, int64_t piece, int64_t lane);
  Bits of(storage::FieldAttr field, int64_t piece);
  mlir::Value scalarBits(storage::FieldAttr field, int64_t piece, int64_t lane);
  llvm::SmallVector<mlir::Value> loadWords(storage::FieldAttr field,
                                           int64_t piece);
  mlir::Type shaped(mlir::Type element, int64_t count) {
    return count == 1 ? element
                      : mlir::Type(mlir::VectorType::get({count}, element));
  }

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type stored;
  storage::BlockType type;
  int64_t lanes;
  mlir::Value operand, block;            // !llvm.ptr
  int64_t alignment = 1;                 // of the block, in bytes
  llvm::SmallVector<mlir::Value> digits; // i32, of the first lane
  /// By field and piece.
  llvm::DenseMap<std::pair<mlir::Attribute, int64_t>,
                 llvm::SmallVector<mlir::Value>>
      words;
  llvm::DenseMap<std::pair<mlir::Attribute, int64_t>, mlir::Value> shared;
};

} // namespace effc::stored

#endif // EFFC_CODEGEN_STORAGE_BLOCKBITS_H
