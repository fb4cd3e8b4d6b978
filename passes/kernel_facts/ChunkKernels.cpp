#include "passes/kernel_facts/ChunkKernels.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace effc;

bool effc::decaysPerHead(seq::LinearAttr linear) {
  return linear.getDecay() == seq::DecayAxis::None ||
         linear.getDecay() == seq::DecayAxis::HeadConstant ||
         linear.getDecay() == seq::DecayAxis::Head;
}

int64_t effc::mostChunkValues(seq::LinearAttr linear, int64_t keys,
                              int64_t chunk) {
  bool isSmall = keys <= 64 && chunk <= 16;
  return isSmall && !decaysPerHead(linear) ? 128 : 64;
}

bool effc::looksBothWays(seq::LinearAttr linear) {
  return linear.getLowRank() == seq::LowRankPair::UndecayedState &&
         linear.getDecay() != seq::DecayAxis::None;
}

int64_t effc::mostChunkTokens(seq::LinearAttr linear) {
  return looksBothWays(linear) ? 16 : std::numeric_limits<int64_t>::max();
}

int64_t effc::mostChosenTokens(seq::LinearAttr linear, int64_t keys) {
  bool plain = decaysPerHead(linear) &&
               linear.getLowRank() == seq::LowRankPair::None &&
               linear.getRead() == seq::ReadOrder::AfterWrite;
  return !plain || keys > 256 ? 16 : keys > 128 ? 32 : 64;
}

std::string effc::chunkObstacle(seq::LinearAttr linear, tile::Device device,
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
  // Threads have 32 elements of a state (passes/tile/ChooseThreads.cpp), and for
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

bool effc::hasChunkKernel(seq::LinearAttr linear, tile::Device device,
                          int64_t keys, int64_t values) {
  return chunkObstacle(linear, device, keys, values).empty();
}

bool effc::hasTransitions(seq::LinearAttr linear) {
  return linear.getLowRank() != seq::LowRankPair::None;
}

int64_t effc::mostPieces(seq::LinearAttr linear, int64_t keys, int64_t values) {
  constexpr int64_t kMostElements = 32768;
  if (hasTransitions(linear) && keys * (keys + values) > kMostElements)
    return 2;
  return std::numeric_limits<int64_t>::max();
}
