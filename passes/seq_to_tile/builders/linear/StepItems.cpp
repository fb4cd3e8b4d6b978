// How many pieces a sequence is cut into follows from a count of cycles, as that
// of chunks does (ChunkItems.cpp): those of the longest item of both launches.
#include "passes/seq_to_tile/builders/linear/StepItems.h"

#include "passes/kernel_facts/BlockRoom.h"
#include "passes/kernel_facts/Cores.h"
#include "passes/kernel_facts/MethodSizes.h"
#include "passes/kernel_facts/RecurrenceCost.h"
#include "passes/seq_to_tile/builders/linear/Recurrence.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace effc;

// Whatever the call.
static int64_t mostValuesOf(seq::MixerOpInterface mixer,
                            const KernelContext &context) {
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

/// Elements of a block that a thread has, in as many threads as it is given.
static int64_t elementsOfThread(const BlockRoom &room, int64_t elements) {
  int64_t threads = std::clamp<int64_t>(
      llvm::PowerOf2Ceil(llvm::divideCeil(elements, kThreadElements)),
      room.lanes, room.threads);
  return llvm::divideCeil(elements, threads);
}

// Elements of a thread that are soon done, so that fewer are no use.
static constexpr int64_t kFewElements = kThreadElements / 2;

int64_t effc::stepValuesOf(seq::MixerOpInterface mixer,
                           const CallContext &call) {
  int64_t most = mostValuesOf(mixer, call);
  auto stateful = cast<seq::StatefulOpInterface>(mixer.getOperation());
  if (!call.isGpu() || call.bitStable || call.kind != seq::EntryKind::Decode)
    return most;
  ArrayRef<int64_t> state = stateful.getStates().front().type.getShape();
  BlockRoom room = BlockRoom::of(call.target);
  if (state.size() != 3 ||
      elementsOfThread(room, state[1] * most) < kFewElements)
    return most;
  auto items = [&](int64_t values) {
    return state[0] * call.entry.getRows() *
           ItemColumns::of(mixer.getStructure().getLinear(), state[1], state[2],
                           values, heldStateOf(call))
               .items;
  };
  int64_t best = most;
  for (int64_t fewer = most / 2;
       fewer >= room.lanes && items(best) < call.cores(); fewer /= 2)
    if (elementsOfThread(room, state[1] * fewer) <
        elementsOfThread(room, state[1] * best))
      best = fewer;
  return best;
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
                      mostValuesOf(mixer, call), heldStateOf(call));
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
