#include "passes/kernel_facts/ChunkKernels.h"

#include "passes/kernel_facts/BlockRoom.h"
#include "passes/kernel_facts/Cores.h"
#include "passes/kernel_facts/MethodSizes.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <iterator>
#include <limits>

using namespace mlir;
using namespace effc;

bool effc::decaysPerHead(seq::LinearAttr linear) {
  return linear.getDecay() == seq::DecayAxis::None ||
         linear.getDecay() == seq::DecayAxis::HeadConstant ||
         linear.getDecay() == seq::DecayAxis::Head;
}

// Whether tokens of a chunk meet in one product, with nothing to solve.
static bool isPlain(seq::LinearAttr linear) {
  return decaysPerHead(linear) && linear.getWrites() == 1 &&
         linear.getLowRank() == seq::LowRankPair::None &&
         linear.getRead() == seq::ReadOrder::AfterWrite;
}

int64_t effc::mostChunkValues(seq::LinearAttr linear, tile::TargetAttr target,
                              int64_t keys, int64_t chunk) {
  if (!isGpu(target))
    return std::numeric_limits<int64_t>::max();
  BlockRoom room = BlockRoom::of(target);
  int64_t most = room.tileRows();
  if (!decaysPerHead(linear) && chunk <= *std::begin(kChunkTokens)) {
    uint64_t inRegisters = room.blockElements() / keys;
    most = std::clamp<int64_t>(llvm::bit_floor(inRegisters), most, 2 * most);
  }
  if (isPlain(linear))
    return most;
  uint64_t held = room.stateElements() / keys;
  return std::min<int64_t>(most, std::max<int64_t>(llvm::bit_floor(held), 8));
}

bool effc::looksBothWays(seq::LinearAttr linear) {
  return linear.getLowRank() == seq::LowRankPair::UndecayedState &&
         linear.getDecay() != seq::DecayAxis::None;
}

int64_t effc::mostChunkTokens(seq::LinearAttr linear) {
  constexpr int64_t kFewest = *std::begin(kChunkTokens);
  if (int64_t writes = linear.getWrites(); writes > 1)
    return std::max<int64_t>(llvm::bit_floor(uint64_t(kFewest / writes)), 1);
  return looksBothWays(linear) ? kFewest : std::numeric_limits<int64_t>::max();
}

int64_t effc::mostChosenTokens(seq::LinearAttr linear, tile::TargetAttr target,
                               int64_t keys) {
  constexpr int64_t kFewest = *std::begin(kChunkTokens),
                    kMost = *std::rbegin(kChunkTokens);
  if (!isPlain(linear))
    return kFewest;
  int64_t elements = isGpu(target) ? BlockRoom::of(target).blockElements()
                                   : closeElements(target);
  return std::clamp<int64_t>(llvm::bit_floor<uint64_t>(elements / keys),
                             kFewest, kMost);
}

std::string effc::chunkObstacle(seq::LinearAttr linear, tile::TargetAttr target,
                                int64_t keys, int64_t values) {
  bool onGpu = isGpu(target);
  auto field = [](llvm::StringRef name, llvm::StringRef value) {
    return (name + " = " + value).str();
  };
  if (!decaysPerHead(linear) &&
      !(onGpu && linear.getDecay() == seq::DecayAxis::Key))
    return field("decay", stringifyDecayAxis(linear.getDecay()));
  if (linear.getField() != seq::DecayField::Real)
    return field("field", stringifyDecayField(linear.getField()));
  if (!onGpu) {
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
  // Rows of a token are its writes: only the last one is read, and only the first
  // one decays. Of more than 8 writes no two tokens share a chunk.
  if (linear.getWrites() > 1 &&
      (!onGpu || !decaysPerHead(linear) || looksBothWays(linear) ||
       linear.getRead() != seq::ReadOrder::AfterWrite ||
       mostChunkTokens(linear) == 1))
    return field("writes", std::to_string(linear.getWrites()));
  // Keys and probes of the shortest chunk are two blocks, and all that threads hold.
  // The host has no chunks of others than plain ones.
  if (!isPlain(linear) && 2 * *std::begin(kChunkTokens) * keys >
                              BlockRoom::of(target).blockElements())
    return field("key channels", std::to_string(keys));
  // Beside their elements of a state threads have registers for keys, probes, decays
  // and their sums as long as each of these takes 8.
  if (looksBothWays(linear)) {
    int64_t chunk = mostChunkTokens(linear);
    int64_t state =
        keys * std::min(values, mostChunkValues(linear, target, keys, chunk));
    int64_t threads =
        std::clamp<int64_t>(llvm::PowerOf2Ceil(state / kThreadElements),
                            tile::kWarp, BlockRoom::of(target).threads);
    if (chunk * keys > 8 * threads)
      return field("low_rank", stringifyLowRankPair(linear.getLowRank())) +
             " and heads of " + std::to_string(keys) + " x " +
             std::to_string(values);
  }
  return "";
}

bool effc::hasChunkKernel(seq::LinearAttr linear, tile::TargetAttr target,
                          int64_t keys, int64_t values) {
  return chunkObstacle(linear, target, keys, values).empty();
}

bool effc::hasTransitions(seq::LinearAttr linear) {
  return linear.getLowRank() != seq::LowRankPair::None;
}

int64_t effc::mostPieces(seq::LinearAttr linear, tile::TargetAttr target,
                         int64_t keys, int64_t values) {
  if (hasTransitions(linear) && isGpu(target) &&
      keys * (keys + values) > BlockRoom::of(target).matrixElements())
    return 2;
  return std::numeric_limits<int64_t>::max();
}
