// How many pieces a sequence is cut into follows from a count of cycles, as that
// of chunks does (ChunkItems.cpp): those of the longest item of both launches.
#include "passes/seq_to_tile/builders/linear/StepItems.h"

#include "passes/kernel_facts/Cores.h"
#include "passes/kernel_facts/RecurrenceCost.h"
#include "passes/seq_to_tile/builders/linear/Recurrence.h"

using namespace mlir;
using namespace effc;

int64_t effc::stepValuesOf(const KernelContext &context,
                           seq::MixerOpInterface mixer) {
  constexpr int64_t kShared = 128;
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
  return std::clamp<int64_t>(
      closeElements(context.target) / (ofElements * state[1]), 8, kShared);
}

int64_t effc::scanPiecesOf(seq::MixerOpInterface mixer,
                           const CallContext &call) {
  // Bounds of the method, whatever the chip: memory of a call for the places of
  // pieces, and tokens that are worth a piece.
  constexpr int64_t kMostPlaceBytes = int64_t(64) << 20, kLeastTokens = 8;
  seq::FormAttr form = mixer.getFormAttr();
  if (!call.isGpu() || call.cores() == 0 || call.bitStable || !form ||
      form.getKind() != seq::FormKind::Scan ||
      call.kind != seq::EntryKind::Prefill)
    return 1;
  auto stateful = cast<seq::StatefulOpInterface>(mixer.getOperation());
  ArrayRef<int64_t> state = stateful.getStates().front().type.getShape();
  int64_t heads = state[0], keys = state[1], values = state[2];
  ItemColumns columns =
      ItemColumns::of(mixer.getStructure().getLinear(), keys, values,
                      stepValuesOf(call, mixer), heldStateOf(call));
  TokenPiecesCost cost = {call.target, call.entry.getRows(),
                          heads * columns.items, keys * columns.block,
                          columns.inside};
  // A place has what the state has, decays of each element at most, and of
  // complex numbers all of it twice.
  int64_t placeBytes = 4 * 4 * heads * keys * values;
  int64_t most = std::min({call.cores() * cost.residentItems() / cost.items,
                           cost.tokens / kLeastTokens,
                           std::max<int64_t>(kMostPlaceBytes / placeBytes, 1)});
  int64_t best = 1;
  for (int64_t pieces = 2; pieces <= most; ++pieces)
    if (cost.of(pieces) < cost.of(best))
      best = pieces;
  return best;
}
