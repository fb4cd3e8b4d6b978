#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_CHANNELBLOCK_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_CHANNELBLOCK_H

#include "passes/seq_to_tile/KernelBuilder.h"

namespace effc {

/// The largest divisor of `channels` up to `limit` that fills whole vectors;
/// all channels where there is none.
int64_t blockOf(int64_t channels, int64_t limit);

/// A kernel whose item is a block of channels of one segment: which segment,
/// which channels, and how rows of them are read and written.
class ChannelBlock {
public:
  /// Sets the kernel's items: blocks of at most `most` of `channels` channels,
  /// each in `parts` parts.
  ChannelBlock(KernelBuilder &k, int64_t channels, int64_t most,
               int64_t parts = 1);

  tile::SegmentOp segment;
  mlir::Value part;    // which of the parts; null where there is one
  int64_t block;       // channels
  mlir::Value first;   // of them
  tile::TileType type; // a row of the block

  /// The block's channels at `at` (a place in the view but for the channel).
  mlir::Value load(mlir::Value view, llvm::ArrayRef<mlir::Value> at = {});
  void store(mlir::Value tile, mlir::Value view,
             llvm::ArrayRef<mlir::Value> at);
  /// What follows the root, from its result at `at`: a row, and what comes
  /// before the channel.
  mlir::LogicalResult finish(mlir::Value result, mlir::Value tile,
                             llvm::ArrayRef<mlir::Value> at);

private:
  KernelBuilder &k;
  mlir::Value columns; // of the block that exist, where the last one has fewer

  llvm::SmallVector<mlir::Value> place(llvm::ArrayRef<mlir::Value> at) const;
  llvm::SmallVector<int64_t> sizes(size_t dimensions) const;
};

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_CHANNELBLOCK_H
