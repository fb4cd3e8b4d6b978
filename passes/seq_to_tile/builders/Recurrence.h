// What the forms of a linear recurrence share.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_RECURRENCE_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_RECURRENCE_H

#include "passes/seq_to_tile/builders/TokenMap.h"

namespace effc {

/// One state of an item's head, or the item's block of its value channels.
struct HeadState {
  seq::StateDescriptor descriptor;
  mlir::Value view;
  llvm::SmallVector<mlir::Value> at; // of the item's part, without the slot
  llvm::SmallVector<int64_t> sizes;  // likewise
  tile::TileType type;
};

/// A mixer of class linear, ready to be built: an item is one head of one
/// segment, or a block of the head's value channels.
struct Recurrence {
  explicit Recurrence(TokenMap map) : map(std::move(map)) {}

  TokenMap map;
  tile::SegmentOp segment;
  mlir::Value head, group;
  mlir::Value firstValue;           // of the item's value channels
  HeadState matrix;                 // K x V block
  std::optional<HeadState> sum;     // column of K, or K x V block
  std::optional<HeadState> maximum; // row of 1, or row of V
  mlir::Value result;               // of the mixer, per token
  seq::LinearAttr linear;

  /// A state before the call; its neutral value where the sequence begins.
  mlir::Value load(KernelBuilder &k, const HeadState &state);
  void store(KernelBuilder &k, const HeadState &state, mlir::Value tile);
  /// The scope of one token, or of `chunk` tokens of which `rows` are there.
  TokenMap::Scope scope(mlir::Value row, mlir::Value rows = {},
                        int64_t chunk = 0) const {
    return {row, rows, head, group, firstValue, chunk};
  }
  /// Applies what follows the mixer in its kernel to `y`, the tile of rows from
  /// `row` on, and stores it.
  mlir::LogicalResult finish(KernelBuilder &k, mlir::Value row, mlir::Value y,
                             mlir::Value rows = {}, int64_t chunk = 1);
};

/// Sets the kernel's items; value channels are cut into blocks of at most
/// `valueBlock` (0: not at all) where nothing is shared between them.
mlir::FailureOr<Recurrence> beginRecurrence(KernelBuilder &k,
                                            seq::MixerOpInterface mixer,
                                            int64_t valueBlock);

/// exp of one element.
mlir::Value emitExp(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value x);

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_RECURRENCE_H
