// What the forms of a linear recurrence share.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_RECURRENCE_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_RECURRENCE_H

#include "passes/seq_to_tile/builders/linear/ItemState.h"
#include "passes/seq_to_tile/builders/linear/TokenMap.h"

namespace effc {

/// A mixer of class linear, ready to be built: an item is one head of one
/// segment, or a block of the head's value channels.
struct Recurrence {
  explicit Recurrence(TokenMap map) : map(std::move(map)) {}

  TokenMap map;
  tile::SegmentOp segment;
  mlir::Value head, group;
  mlir::Value sequence;   // number of the segment
  mlir::Value piece;      // of the segment, below the most there are
  mlir::Value firstValue; // of the item's value channels
  /// Of the item's columns: its first value channel or, behind all of these, a
  /// column of what its piece does to the state before it.
  mlir::Value firstColumn;
  mlir::Value isTransition; // whether it is the latter; null: no item's is
  ItemState matrix;         // K x V block
  std::optional<ItemState> imaginary; // likewise, of complex numbers
  std::optional<ItemState> sum;       // column of K, or K x V block
  std::optional<ItemState> maximum;   // row of 1, or row of V
  mlir::Value result;                 // of the mixer, per token
  seq::LinearAttr linear;
  /// Blocks of value channels that the item passes over, one after another,
  /// since a state that all of them share must be written once.
  int64_t blocksInside = 1;

  /// Moves on to the value channels from `first` on.
  void setFirstValue(mlir::Value first);
  mlir::Value load(KernelBuilder &k, const ItemState &state) {
    return state.load(k, segment);
  }
  void store(KernelBuilder &k, const ItemState &state, mlir::Value tile) {
    state.store(k, segment, tile);
  }
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

/// How the value channels of a head are cut.
struct ItemColumns {
  int64_t block;  ///< that are computed at once
  int64_t items;  ///< that share a head
  int64_t inside; ///< blocks that an item passes over, one after another

  /// Into blocks of at most `most` (0: not at all) where nothing is shared
  /// between them, on a GPU of what its threads can hold, `heldStateOf`.
  static ItemColumns of(seq::LinearAttr linear, int64_t keys, int64_t values,
                        int64_t most, std::optional<int64_t> held);
};

/// Elements of a state that the threads of a GPU's block can hold; nothing on the
/// host, where states are in memory.
std::optional<int64_t> heldStateOf(const KernelContext &context);

/// Sets the kernel's items, for one token after another or for chunks of them;
/// value channels are cut into blocks of at most `valueBlock` (0: not at all)
/// where nothing is shared between them, and segments into at most `pieces`.
/// Each head has items for `transitionBlocks` more blocks of columns.
mlir::FailureOr<Recurrence> beginRecurrence(KernelBuilder &k,
                                            seq::MixerOpInterface mixer,
                                            bool chunked, int64_t valueBlock,
                                            int64_t pieces = 1,
                                            int64_t transitionBlocks = 0);

/// exp of an f32 or of each element of a tile.
mlir::Value emitExponential(KernelBuilder &k, mlir::Value x);

/// exp of one element.
mlir::Value emitExp(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value x);

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_RECURRENCE_H
