// How many pieces a sequence is cut into follows from a count of cycles, as that
// of chunks does (ChunkItems.cpp): those of the longest item of both launches.
#include "passes/seq_to_tile/builders/linear/StepItems.h"

#include "passes/kernel_facts/Cores.h"
#include "passes/kernel_facts/MethodSizes.h"
#include "passes/kernel_facts/RecurrenceCost.h"
#include "passes/seq_to_tile/builders/linear/Recurrence.h"

using namespace mlir;
using namespace effc;

int64_t effc::stepValuesOf(const KernelContext &context,
                           seq::MixerOpInterface mixer) {
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
  if (ofElements == states || state.size() != 3)
    return kStepValues;
  std::optional<int64_t> held = heldStateOf(context);
  int64_t elements = held ? *held / 2 : closeElements(context.target);
  return std::clamp<int64_t>(elements / (ofElements * state[1]), 8,
                             kStepValues);
}

int64_t effc::scanPiecesOf(seq::MixerOpInterface mixer,
                           const CallContext &call) {
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
                           cost.tokens / kPieceTokens,
                           std::max<int64_t>(kMostPlaceBytes / placeBytes, 1)});
  int64_t best = 1;
  for (int64_t pieces = 2; pieces <= most; ++pieces)
    if (cost.of(pieces) < cost.of(best))
      best = pieces;
  return best;
}
