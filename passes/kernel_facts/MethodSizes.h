// Sizes of items that follow from a method and from no machine.
//
// A run of channels or outputs is long enough that memory gives it at once, and short
// enough that a model has many: that holds on hosts and GPUs of any size, so one number
// serves both, and a plan of either has the same items. What a chip decides is a function
// of its record (BlockRoom.h, LaunchCost.h).
#ifndef EFFC_PASSES_KERNELFACTS_METHODSIZES_H
#define EFFC_PASSES_KERNELFACTS_METHODSIZES_H

#include <cstdint>
#include <iterator>

namespace effc {

/// Channels of an item of the short convolution: four vectors of eight. With the taps
/// and the carried inputs they fill 16 registers of a host; of a GPU's rows they are
/// 128 bytes, which memory gives at once.
inline constexpr int64_t kConvolutionChannels = 32;
/// Registers of a thread of its kernel for rows in tiles: inputs, sums and taps, the most
/// that ptxas allots (96 to 119). The code is the same for any chip.
inline constexpr int64_t kConvolutionRegisters = 120;

/// Channels of an item that shifts tokens: nothing is shared between them, and a row
/// goes by in runs that memory gives at once.
inline constexpr int64_t kShiftChannels = 128;
/// Channels of an item that sums all tokens so far: a weight is read for as many.
inline constexpr int64_t kMixChannels = 128;

/// Channels of an item that sums chosen rows: a run of a row that is long enough to be
/// fetched well, and short enough that a single token occupies several threads.
inline constexpr int64_t kSummedChannels = 256;
/// One-neuron experts of an item: their dot products share the loads of a token.
inline constexpr int64_t kNeurons = 16;
/// Hidden units, or outputs, of one expert that an item computes.
inline constexpr int64_t kExpertUnits = 24;

/// Outputs of an item that leaves the best of them: enough that a row of the largest
/// vocabularies is left with some thousands of items to look at.
inline constexpr int64_t kChosenOutputs = 64;

/// Tokens of the chunks that are tried: one, two or four pieces of tensor cores, and as
/// many rows of a host's products. Longer ones look at more pairs of tokens than at
/// elements of a usual state.
inline constexpr int64_t kChunkTokens[] = {16, 32, 64};
/// Tokens of a chunk that is asked for without a length.
inline constexpr int64_t kUsualChunkTokens = *std::rbegin(kChunkTokens);

/// Value channels of an item that takes one token after another, where nothing is
/// shared between them.
inline constexpr int64_t kStepValues = 128;
/// Bounds of a scan: bytes of a call for the places of pieces, and tokens that are
/// worth a piece.
inline constexpr int64_t kMostPlaceBytes = int64_t(64) << 20, kPieceTokens = 8;

/// A contraction up to so many terms may be one step where no step of whole pieces
/// divides it.
inline constexpr int64_t kShortContraction = 256;
/// Elements between the rows of a step in shared memory, against bank conflicts.
inline constexpr int64_t kStepPadding = 8;

/// Elements of f32 that rows of what launches hand on begin at multiples of: 32 bytes,
/// the least that memory of a GPU gives.
inline constexpr int64_t kSectorElements = 8;

/// Rows from which a product may be left to a library. Fewer read the weights and
/// little else, which a kernel of ours does as fast as memory, with what follows it in
/// the same launch.
inline constexpr int64_t kLibraryRows = 64;

/// Outputs that stay f32 where a product is split are at most one in so many.
inline constexpr int64_t kSplitShare = 8;

} // namespace effc

#endif // EFFC_PASSES_KERNELFACTS_METHODSIZES_H
