// How many pieces a sequence is cut into follows from a count of cycles: those
// of the longest item of both launches, of which there is one for each core.
#include "passes/seq_to_tile/builders/linear/ChunkItems.h"

#include "passes/kernel_facts/ChunkKernels.h"
#include "passes/kernel_facts/RecurrenceCost.h"
#include "passes/seq_to_tile/builders/Builders.h"
#include "passes/seq_to_tile/builders/convolution/ChannelBlock.h"
#include "passes/seq_to_tile/builders/linear/Recurrence.h"

using namespace mlir;
using namespace effc;

bool effc::isQuadratic(seq::MixerOpInterface mixer) {
  return mixer.getFormAttr().getKind() == seq::FormKind::Quadratic;
}

int64_t effc::chunkOf(seq::MixerOpInterface mixer, const CallContext &call) {
  return isQuadratic(mixer) ? call.entry.getRows()
                            : mixer.getFormAttr().getChunk();
}

ChunkItems ChunkItems::of(seq::MixerOpInterface mixer, int64_t chunk) {
  auto stateful = cast<seq::StatefulOpInterface>(mixer.getOperation());
  ArrayRef<int64_t> state = stateful.getStates().front().type.getShape();
  seq::LinearAttr linear = mixer.getStructure().getLinear();
  int64_t block =
      blockOf(state[2],
              mostChunkValues(linear, tile::getTarget(mixer), state[1], chunk));
  return {state[0], state[1], block, state[2]};
}

int64_t effc::transitionItemsOf(seq::LinearAttr linear, const ChunkItems &items,
                                int64_t pieces) {
  return hasTransitions(linear) && pieces > 2
             ? llvm::divideCeil(items.keys, items.values)
             : 0;
}

int64_t effc::piecesOf(seq::MixerOpInterface mixer, const CallContext &call) {
  seq::FormAttr form = mixer.getFormAttr();
  if (call.cores() == 0 || call.bitStable || !form ||
      form.getKind() != seq::FormKind::Chunkwise ||
      call.kind != seq::EntryKind::Prefill ||
      mixer.getStructure().getMixerClass() != seq::MixerClass::Linear)
    return 1;
  seq::LinearAttr linear = mixer.getStructure().getLinear();
  ChunkItems items = ChunkItems::of(mixer, form.getChunk());
  if (!hasChunkKernel(linear, call.target, items.keys, items.headValues))
    return 1;
  int64_t chunk = form.getChunk();
  int64_t chunks = call.entry.getRows() / chunk;
  int64_t most =
      std::min({call.cores() / items.count(), chunks,
                mostPieces(linear, call.target, items.keys, items.values)});
  ChunkPiecesCost cost = {
      linear,     call.target,  items.heads, items.perHead(),
      items.keys, items.values, chunk};
  auto cyclesOf = [&](int64_t pieces) {
    return cost.of(chunks, pieces, transitionItemsOf(linear, items, pieces));
  };
  int64_t best = 1;
  // Of equals that share chunks the most: a call of several segments has them.
  for (int64_t pieces = 2; pieces <= most; ++pieces)
    if (double cycles = cyclesOf(pieces), least = cyclesOf(best);
        cycles < least || (cycles == least && best > 1))
      best = pieces;
  return best;
}
