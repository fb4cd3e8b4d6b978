// A state as a kernel's item has it.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_ITEMSTATE_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_ITEMSTATE_H

#include "passes/seq_to_tile/KernelBuilder.h"

namespace effc {

/// The part of a state that belongs to an item.
struct ItemState {
  seq::StateDescriptor descriptor;
  mlir::Value view;                  // of all slots
  llvm::SmallVector<mlir::Value> at; // of the item's part, without the slot
  llvm::SmallVector<int64_t> sizes;  // likewise
  tile::TileType type;
  mlir::Value rows = {}; // of a column, how many there are; null: all

  /// The state before the call; its neutral value where the sequence begins.
  mlir::Value load(KernelBuilder &k, tile::SegmentOp segment) const;
  void store(KernelBuilder &k, tile::SegmentOp segment, mlir::Value tile) const;
};

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_ITEMSTATE_H
