// How many pieces a sequence is cut into follows from a count of cycles, as that
// of chunks does (ChunkItems.cpp): those of the longest item of both launches.
#include "passes/seq_to_tile/builders/linear/StepItems.h"

#include "passes/kernel_facts/Latency.h"
#include "passes/kernel_facts/ScanKernels.h"
#include "passes/seq_to_tile/builders/linear/Recurrence.h"

using namespace mlir;
using namespace effc;

int64_t effc::stepValuesOf(const KernelContext &context,
                           seq::MixerOpInterface mixer) {
  constexpr int64_t kShared = 128, kCachedElements = 8192;
  auto stateful = cast<seq::StatefulOpInterface>(mixer.getOperation());
  ArrayRef<int64_t> state = stateful.getStates().front().type.getShape();
  int64_t ofElements =
      llvm::count_if(mixer->getOperandTypes(), [&](Type operand) {
        auto tensor = dyn_cast<RankedTensorType>(operand);
        return tensor && tensor.getShape() == state;
      });
  int64_t states = llvm::count_if(
      stateful.getStates(), [&](const seq::StateDescriptor &descriptor) {
        return descriptor.kind == seq::StateKind::Matrix;
      });
  if (context.isGpu() || ofElements == states || state.size() != 3)
    return kShared;
  return std::clamp<int64_t>(kCachedElements / (ofElements * state[1]), 8,
                             kShared);
}

namespace {
/// What the tokens of one sequence take on a GPU, in cycles.
struct ScanCost {
  int64_t tokens;
  int64_t items;    ///< of the sequence, uncut
  int64_t elements; ///< of an item's state
  int64_t blocks;   ///< of it, one after another
  int64_t cores;

  /// Items that a core has at once, each of a warp for so many elements.
  int64_t residentItems() const {
    constexpr int64_t kElementsOfWarp = 1024, kMostWarps = 16;
    return std::max<int64_t>(
        kMostWarps * kElementsOfWarp / std::max(elements, kElementsOfWarp), 1);
  }
  /// In so many pieces; 1: in one launch.
  double of(int64_t pieces) const;
};
} // namespace

// A token waits for its numbers; of a core's items one waits while another
// computes, which takes some five instructions for each 32 elements, by four
// schedulers. Each piece reads the places of those before it.
double ScanCost::of(int64_t pieces) const {
  constexpr double kLaunchCycles = 2500, kPlaceCycles = 600;
  double latency = latencyOf(/*terms=*/0, /*barriers=*/2, /*roundedTo=*/{}),
         work = 5.0 * double(elements) / 32 / 4;
  double each = double(llvm::divideCeil(tokens, pieces)) * double(blocks);
  double ofCore = double(llvm::divideCeil(items * pieces, cores));
  double pass = each * std::max(latency, ofCore * work);
  return pieces == 1 ? pass
                     : kScanLaunches * pass + kLaunchCycles +
                           kPlaceCycles * double(pieces) * double(blocks);
}

int64_t effc::scanPiecesOf(seq::MixerOpInterface mixer,
                           const CallContext &call) {
  constexpr int64_t kMostPlaceBytes = int64_t(64) << 20, kLeastTokens = 8;
  seq::FormAttr form = mixer.getFormAttr();
  if (!call.isGpu() || call.cores == 0 || call.bitStable || !form ||
      form.getKind() != seq::FormKind::Scan ||
      call.kind != seq::EntryKind::Prefill)
    return 1;
  auto stateful = cast<seq::StatefulOpInterface>(mixer.getOperation());
  ArrayRef<int64_t> state = stateful.getStates().front().type.getShape();
  int64_t heads = state[0], keys = state[1], values = state[2];
  ItemColumns columns =
      ItemColumns::of(mixer.getStructure().getLinear(), keys, values,
                      stepValuesOf(call, mixer), /*isGpu=*/true);
  ScanCost cost = {call.entry.getRows(), heads * columns.items,
                   keys * columns.block, columns.inside, call.cores};
  // A place has what the state has, decays of each element at most, and of
  // complex numbers all of it twice.
  int64_t placeBytes = 4 * 4 * heads * keys * values;
  int64_t most = std::min({call.cores * cost.residentItems() / cost.items,
                           cost.tokens / kLeastTokens,
                           std::max<int64_t>(kMostPlaceBytes / placeBytes, 1)});
  int64_t best = 1;
  for (int64_t pieces = 2; pieces <= most; ++pieces)
    if (cost.of(pieces) < cost.of(best))
      best = pieces;
  return best;
}
