// How kernels read the sums of the rows of each block of positions, once a launch
// before (BlockSums.cpp) has added the call's rows to them.
#ifndef EFFC_PASSES_SEQ_TO_TILE_BUILDERS_WINDOW_BLOCKQUERIES_H
#define EFFC_PASSES_SEQ_TO_TILE_BUILDERS_WINDOW_BLOCKQUERIES_H

#include "passes/seq_to_tile/KernelBuilder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace effc {

/// The queries of one token that share a head of keys, and the scores that they have
/// with mean keys, so many blocks at a time. An item is a group of heads of a segment
/// and some of its tokens.
class BlockQueries {
public:
  /// Blocks whose scores are formed together.
  static constexpr int64_t kTogether = 32;

  /// `queries` [T, H, K] in so many groups of heads; `sums` [L, G, K].
  BlockQueries(KernelBuilder &k, mlir::Value queries, mlir::Value sums,
               int64_t groups, int64_t block, double scale);

  /// Builds the item: `body` for each of its tokens.
  mlir::LogicalResult forTokens(llvm::function_ref<mlir::LogicalResult()> body);

  // Of the token that `body` is at:
  mlir::Value row() const { return tokenRow; }
  mlir::Value group() const { return ownGroup; }
  mlir::Value firstHead() { return k.mul(ownGroup, heads()); }
  /// Heads of a group.
  int64_t heads() const { return groupHeads; }
  /// Blocks before the token's own, and blocks that are whole with it.
  mlir::Value before() const { return blocksBefore; }
  mlir::Value whole() const { return blocksWhole; }

  /// For all runs of kTogether blocks up to block `end`: `body` is given the first
  /// block, how many lie in the states, and the scores [heads, kTogether], -inf from
  /// block `end` on. With `isExact` nothing is rounded to 16 bits.
  llvm::SmallVector<mlir::Value>
  overRuns(mlir::Value end, bool isExact,
           llvm::SmallVector<mlir::Value> carried,
           llvm::function_ref<llvm::SmallVector<mlir::Value>(
               mlir::Value first, mlir::Value count, mlir::Value scores,
               mlir::ValueRange carried)>
               body);
  /// kTogether rows of the sums `state` of a head.
  mlir::Value loadSums(mlir::Value state, mlir::Value first, mlir::Value count);

private:
  mlir::Value scoresOf(mlir::Value first, mlir::Value count, mlir::Value end,
                       bool isExact);

  KernelBuilder &k;
  mlir::OpBuilder &b;
  mlir::Value queries, sums;
  int64_t groups, groupHeads, block;
  double scale;
  tile::SegmentOp segment;
  mlir::Value ownGroup, ownKeyHead, tokenRow, blocksBefore, blocksWhole, tile;
};

} // namespace effc

#endif // EFFC_PASSES_SEQ_TO_TILE_BUILDERS_WINDOW_BLOCKQUERIES_H
