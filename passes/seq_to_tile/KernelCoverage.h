// Which structures the kernel builders cover, for passes that choose.
#ifndef EFFC_PASSES_SEQTOTILE_KERNELCOVERAGE_H
#define EFFC_PASSES_SEQTOTILE_KERNELCOVERAGE_H

#include "dialects/seq/SeqAttributes.h"
#include "dialects/seq/SeqOps.h"
#include "dialects/tile/Tile.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

namespace effc {

/// Whether each head's state decays as a whole, or not at all.
inline bool decaysPerHead(seq::LinearAttr linear) {
  return linear.getDecay() == seq::DecayAxis::None ||
         linear.getDecay() == seq::DecayAxis::HeadConstant ||
         linear.getDecay() == seq::DecayAxis::Head;
}

/// The most value channels of a head that an item of a chunkwise kernel has on
/// a GPU. A state of all of them would not fit beside its operands, and heads
/// alone are too few blocks; on the host an item that has the whole head
/// computes decays and scores once. These cost most with decays per key
/// channel, so that states of few keys and the values of short chunks stay
/// together.
inline int64_t mostChunkValues(seq::LinearAttr linear, int64_t keys,
                               int64_t chunk) {
  bool isSmall = keys <= 64 && chunk <= 16;
  return isSmall && !decaysPerHead(linear) ? 128 : 64;
}

/// Whether tokens of a chunk read before their own decay and behind it, and of
/// two keys each.
inline bool looksBothWays(seq::LinearAttr linear) {
  return linear.getLowRank() == seq::LowRankPair::UndecayedState &&
         linear.getDecay() != seq::DecayAxis::None;
}

/// The longest chunk that a kernel takes: of one that looks both ways more
/// tokens would fill a block's shared memory.
inline int64_t mostChunkTokens(seq::LinearAttr linear) {
  return looksBothWays(linear) ? 16 : std::numeric_limits<int64_t>::max();
}

/// The longest chunk that a GPU takes unasked. With a longer one 256 threads
/// have no registers for scores, outputs and state, and spill, or a block no
/// room: corrections with heads of 256 channels do at 32 tokens.
inline int64_t mostChosenTokens(seq::LinearAttr linear, int64_t keys) {
  bool plain = decaysPerHead(linear) &&
               linear.getLowRank() == seq::LowRankPair::None &&
               linear.getRead() == seq::ReadOrder::AfterWrite;
  return !plain || keys > 256 ? 16 : keys > 128 ? 32 : 64;
}

/// Cycles that a GPU's core waits for memory and at a barrier, and for a
/// product of tensor cores whose sums the next one adds to; assumed, not
/// measured.
inline constexpr double kMemoryCycles = 500, kBarrierCycles = 50,
                        kProductCycles = 33;

/// Cycles that an item waits for its numbers, between `barriers`, and for
/// products of each 16 of `terms`, one behind the other, whatever it computes.
inline double latencyOf(double terms, int64_t barriers, mlir::Type roundedTo) {
  double products = !roundedTo ? 6 : roundedTo.isTF32() ? 2 : 1;
  return kMemoryCycles + double(barriers) * kBarrierCycles +
         terms / 16 * products * kProductCycles;
}

/// The same of a chunk, of which an item has one behind the other: terms are
/// its keys and tokens, for the state and for each of `readers`.
inline double chunkLatency(int64_t readers, int64_t keys, int64_t chunk,
                           mlir::Type roundedTo) {
  return latencyOf(double((1 + readers) * (keys + chunk)), /*barriers=*/10,
                   roundedTo);
}

/// The field of a linear recurrence, or the channels of its heads, for which no
/// kernel takes chunks of tokens at once, as a reader of the record sees it;
/// empty where one does. Every recurrence has a kernel that takes one token
/// after another, and on the host most have no other: its products are no
/// faster than its time loop.
inline std::string chunkObstacle(seq::LinearAttr linear, tile::Device device,
                                 int64_t keys, int64_t values) {
  bool isGpu = device == tile::Device::Nvptx;
  auto field = [](llvm::StringRef name, llvm::StringRef value) {
    return (name + " = " + value).str();
  };
  if (!decaysPerHead(linear) &&
      !(isGpu && linear.getDecay() == seq::DecayAxis::Key))
    return field("decay", stringifyDecayAxis(linear.getDecay()));
  if (linear.getField() != seq::DecayField::Real)
    return field("field", stringifyDecayField(linear.getField()));
  if (!isGpu) {
    if (linear.getLowRank() != seq::LowRankPair::None)
      return field("low_rank", stringifyLowRankPair(linear.getLowRank()));
    if (linear.getRead() != seq::ReadOrder::AfterWrite)
      return field("read", stringifyReadOrder(linear.getRead()));
    if (linear.getBonus())
      return field("bonus", "true");
  }
  if (linear.getNormaliser() != seq::Normaliser::None)
    return field("normaliser", stringifyNormaliser(linear.getNormaliser()));
  if (linear.getStabiliser() != seq::Stabiliser::None)
    return field("stabiliser", stringifyStabiliser(linear.getStabiliser()));
  // What 16 tokens of more channels take of shared memory and of registers is
  // all that a block has.
  constexpr int64_t kMostKeys = 256;
  bool plain = decaysPerHead(linear) &&
               linear.getLowRank() == seq::LowRankPair::None &&
               linear.getRead() == seq::ReadOrder::AfterWrite;
  if (!plain && keys > kMostKeys)
    return field("key channels", std::to_string(keys));
  // Threads have 32 elements of a state (passes/tile/Layouts.cpp), and for
  // keys, probes, decays and their sums beside it registers as long as each of
  // these takes 8.
  if (looksBothWays(linear)) {
    constexpr int64_t kMostThreads = 256;
    int64_t chunk = mostChunkTokens(linear);
    int64_t state =
        keys * std::min(values, mostChunkValues(linear, keys, chunk));
    int64_t threads =
        std::clamp<int64_t>(llvm::PowerOf2Ceil(state / 32), 32, kMostThreads);
    if (chunk * keys > 8 * threads)
      return field("low_rank", stringifyLowRankPair(linear.getLowRank())) +
             " and heads of " + std::to_string(keys) + " x " +
             std::to_string(values);
  }
  return "";
}

inline bool hasChunkKernel(seq::LinearAttr linear, tile::Device device,
                           int64_t keys, int64_t values) {
  return chunkObstacle(linear, device, keys, values).empty();
}

/// Whether the state before some tokens goes into the one behind them through a
/// matrix, K x K, and not times numbers.
inline bool hasTransitions(seq::LinearAttr linear) {
  return linear.getLowRank() != seq::LowRankPair::None;
}

/// The most pieces that the chunks of a sequence can be dealt to beside one
/// another, where items have so many value channels. Of two neither needs the
/// matrix between them (PieceMemory.h); where there are more, a block's shared
/// memory holds it beside a state.
inline int64_t mostPieces(seq::LinearAttr linear, int64_t keys,
                          int64_t values) {
  constexpr int64_t kMostElements = 32768;
  if (hasTransitions(linear) && keys * (keys + values) > kMostElements)
    return 2;
  return std::numeric_limits<int64_t>::max();
}

/// Whether products keep what they multiply as 16 bits in a GPU's shared
/// memory: what is rounded to tf32 takes the place of an f32.
inline bool areOperandsNarrow(tile::Device device, mlir::Type roundedTo) {
  return device == tile::Device::Nvptx && roundedTo && !roundedTo.isTF32();
}

/// The most keys of a block of a window's kernel: on the host 8 KiB of keys 64
/// wide. Narrow ones take half the room on a GPU, and a block's barriers and
/// sums are then for twice the products.
inline int64_t mostWindowKeys(tile::Device device, mlir::Type roundedTo) {
  return areOperandsNarrow(device, roundedTo) ? 64 : 32;
}

/// How a GPU passes over the contraction of a product with a single row: the
/// longest divisor of `inner` up to a run of 1,024 elements; 0 where that would
/// be short, and the row is one of a matrix.
inline int64_t singleRowStep(int64_t inner) {
  int64_t step = std::min<int64_t>(inner, 1024);
  while (inner % step != 0)
    --step;
  return step >= 64 || step == inner ? step : 0;
}

/// The shapes of a product of rows with a matrix (`seq::isDenseOp`): so many
/// parts, each of a run of outputs that sum up `inner` terms.
struct DenseShape {
  int64_t parts, outputs, inner;

  static DenseShape of(mlir::Operation *op) {
    if (auto scores = mlir::dyn_cast<seq::KeyScoresOp>(op))
      return {2 * scores.getHeads(), scores.getKeysPerHalf(),
              scores.getChannels()};
    llvm::ArrayRef<int64_t> weight =
        mlir::cast<mlir::RankedTensorType>(op->getOperand(1).getType())
            .getShape();
    return {weight.size() == 3 ? weight.front() : 1, weight.drop_back().back(),
            weight.back()};
  }
};

/// The terms that a tensor core takes at once. A product of fewer is no faster
/// rounded: what repeats a number stays exact.
inline constexpr int64_t kLeastRoundedTerms = 16;

/// Whether a GPU takes the rows of a call one by one, without tensor cores: a
/// single row whose bits need not be those it has among others.
inline bool isSingleRow(seq::EntryAttr entry, bool bitStable, int64_t inner) {
  return !bitStable && entry.getRows() == 1 && singleRowStep(inner) > 0;
}

/// Whether a GPU that rounds products reads the rows of `product`
/// (`seq::isDenseOp`) as the nearest of what it rounds to.
inline bool roundsRows(mlir::Operation *product, seq::EntryAttr entry,
                       bool bitStable) {
  int64_t inner = DenseShape::of(product).inner;
  return inner >= kLeastRoundedTerms && !isSingleRow(entry, bitStable, inner);
}

/// Whether items own whole outputs of a product with a single row on a GPU.
inline bool ownsOutputs(seq::LinearOp product) {
  mlir::RankedTensorType weight = product.getWeight().getType();
  return weight.getRank() == 2 && singleRowStep(weight.getDimSize(1)) > 0;
}

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_KERNELCOVERAGE_H
