// One function per kernel family. Each fills the tile kernel of `k` from the
// root op and what follows it; each fails with a diagnostic on the root.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_BUILDERS_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_BUILDERS_H

#include "passes/seq_to_tile/KernelBuilder.h"

#include <optional>
#include <string>

namespace effc {

/// y = x w^T (+ bias) for seq.linear, seq.lm_head and seq.key_scores
/// (Dense.cpp).
mlir::LogicalResult buildDense(KernelBuilder &k);
/// The sums of buildDense's items that share a tile's terms, added up behind its kernel,
/// and what follows the product (DepthParts.cpp).
mlir::LogicalResult buildSumOfParts(KernelBuilder &k);
/// The tile of a product of buildDense, for `KernelSizes` (DenseTiles.cpp).
DenseTile denseTileOf(mlir::Operation *op, const CallContext &call);
/// The largest number of each row, which lies in memory (Best.cpp).
mlir::LogicalResult buildBest(KernelBuilder &k);
/// The same of what buildDense's items have found, behind its kernel
/// (Best.cpp).
mlir::LogicalResult buildBestOfItems(KernelBuilder &k);
/// Rows picked by an index table: embedding and select_rows (Gather.cpp).
mlir::LogicalResult buildGather(KernelBuilder &k);
mlir::LogicalResult buildAtStart(KernelBuilder &k);
/// Channels in a constant order (PermuteChannels.cpp).
mlir::LogicalResult buildPermuteChannels(KernelBuilder &k);
/// Root-mean-square norms, plain and gated, in groups (RowNorm.cpp).
mlir::LogicalResult buildRowNorm(KernelBuilder &k);
/// Norms of groups of channels (GroupNorm.cpp).
mlir::LogicalResult buildGroupNorm(KernelBuilder &k);
/// The weights that a row's numbers stand for (Softmax.cpp).
mlir::LogicalResult buildSoftmax(KernelBuilder &k);
/// Elementwise ops alone, row by row (Elementwise.cpp).
mlir::LogicalResult buildElementwise(KernelBuilder &k);
/// A matrix of blocks as it is handed on, unpacked (Unpacked.cpp).
mlir::LogicalResult buildUnpacked(KernelBuilder &k);
/// The short causal convolution with its tail (ShortConvolution.cpp).
mlir::LogicalResult buildShortConvolution(KernelBuilder &k);
/// The token before each one (TokenShift.cpp).
mlir::LogicalResult buildTokenShift(KernelBuilder &k);
/// Sums of all tokens so far, weighted by position (CausalMix.cpp).
mlir::LogicalResult buildCausalMix(KernelBuilder &k);
/// A token's channels mixed with their neighbours (ChannelConvolution.cpp).
mlir::LogicalResult buildChannelConvolution(KernelBuilder &k);
/// Tensors joined along their last axis (Concat.cpp).
mlir::LogicalResult buildConcat(KernelBuilder &k);
/// Products of elements without a sum (Product.cpp).
mlir::LogicalResult buildProduct(KernelBuilder &k);
/// The row of a ring that a position lies in (RingRow.cpp).
mlir::LogicalResult buildRingRow(KernelBuilder &k);
/// The call's tokens into the state of a causal mix, after buildCausalMix's
/// kernel (Append.cpp).
mlir::LogicalResult buildCausalAppend(KernelBuilder &k);
/// What keeps a mixer of class linear from being computed token by token, as text
/// (RecurrenceStep.cpp), or chunk by chunk (RecurrenceChunk.cpp); none: nothing.
/// Their builders fail where there is an obstacle. Nothing is emitted into the kernel.
std::optional<std::string> obstacleToSteps(KernelBuilder &k);
std::optional<std::string> obstacleToChunks(KernelBuilder &k);
/// A mixer of class linear, token by token (RecurrenceStep.cpp).
mlir::LogicalResult buildRecurrenceStep(KernelBuilder &k);
/// A mixer of class linear as a scan: what pieces of sequences do to the state,
/// or where nothing is cut buildRecurrenceStep (RecurrenceScan.cpp).
mlir::LogicalResult buildRecurrenceScan(KernelBuilder &k);
/// What pieces give, behind its kernel (RecurrenceScan.cpp).
mlir::LogicalResult buildScanOutputs(KernelBuilder &k);
/// A mixer of class linear, chunk by chunk (RecurrenceChunk.cpp).
mlir::LogicalResult buildRecurrenceChunk(KernelBuilder &k);
/// What pieces give, behind the kernel that has found what each does to the
/// state (RecurrenceChunk.cpp).
mlir::LogicalResult buildRecurrencePieces(KernelBuilder &k);
/// A step that is written out and not linear, token by token (WrittenStep.cpp).
mlir::LogicalResult buildWrittenStep(KernelBuilder &k);
/// Positions as angles: rotary and cosine_sine (Rotary.cpp).
mlir::LogicalResult buildRotary(KernelBuilder &k);
/// A mixer of class window: scores, softmax and values (Window.cpp).
mlir::LogicalResult buildWindow(KernelBuilder &k);
/// The call's keys and values into the states of a mixer of class window, after
/// every item of buildWindow's kernel has read them (Append.cpp).
mlir::LogicalResult buildWindowAppend(KernelBuilder &k);
/// The call's rows into the sums of blocks that seq.choose_blocks or
/// seq.mix_block_means reads (BlockSums.cpp).
mlir::LogicalResult buildBlockSums(KernelBuilder &k);
/// The blocks that queries choose, once the sums have the call's rows
/// (ChooseBlocks.cpp).
mlir::LogicalResult buildChooseBlocks(KernelBuilder &k);
/// A softmax over mean keys, and mean values, likewise (MixBlockMeans.cpp).
mlir::LogicalResult buildMixBlockMeans(KernelBuilder &k);
/// Merges what the pieces of a decode call's keys have given, and does what
/// buildWindowAppend does (WindowMerge.cpp).
mlir::LogicalResult buildWindowMerge(KernelBuilder &k);

/// The best rows of each head, with their weights (ChooseRows.cpp).
mlir::LogicalResult buildChooseRows(KernelBuilder &k);
/// Weighted sums of chosen rows (ChosenRows.cpp).
mlir::LogicalResult buildSumRows(KernelBuilder &k);
/// Hidden units of chosen experts (ChosenRows.cpp).
mlir::LogicalResult buildExpertHidden(KernelBuilder &k);
/// Outputs of chosen experts (ChosenRows.cpp).
mlir::LogicalResult buildExpertOutput(KernelBuilder &k);

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_BUILDERS_H
