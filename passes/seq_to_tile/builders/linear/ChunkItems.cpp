// How many pieces a sequence is cut into follows from a count of cycles: those
// of the longest item of both launches, of which there is one for each core.
#include "passes/seq_to_tile/builders/linear/ChunkItems.h"

#include "passes/kernel_facts/ChunkKernels.h"
#include "passes/kernel_facts/Latency.h"
#include "passes/seq_to_tile/builders/Builders.h"
#include "passes/seq_to_tile/builders/convolution/ChannelBlock.h"
#include "passes/seq_to_tile/builders/linear/Recurrence.h"

using namespace mlir;
using namespace effc;

// A second launch, and what an item does besides chunks, in cycles of a core.
static constexpr int64_t kLaunchCycles = 2500;
/// How much longer products of operands as they are take where others are
/// rounded (compiler/Target.h).
static int64_t exactProductTime(Type roundedTo) {
  return !roundedTo ? 1 : roundedTo.isTF32() ? 2 : 3;
}

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
  int64_t block = blockOf(state[2], mostChunkValues(linear, state[1], chunk));
  return {state[0], state[1], block, state[2]};
}

int64_t effc::transitionItemsOf(seq::LinearAttr linear, const ChunkItems &items,
                                int64_t pieces) {
  return hasTransitions(linear) && pieces > 2
             ? llvm::divideCeil(items.keys, items.values)
             : 0;
}

namespace {
/// What the pieces of a sequence take, in cycles of a core.
class PieceCost {
public:
  PieceCost(seq::LinearAttr linear, const ChunkItems &items, int64_t chunk,
            const KernelContext &context);

  /// Of a sequence of `chunks`, which `pieces` share; 1: in one launch.
  int64_t of(int64_t chunks, int64_t pieces) const;

private:
  seq::LinearAttr linear;
  const ChunkItems &items;
  int64_t cores;
  int64_t whole;   ///< a chunk with its outputs
  int64_t state;   ///< a chunk without
  int64_t product; ///< of a state and the matrix of a piece
};
} // namespace

// A chunk has a product with the state for what it writes and for each kind of
// reader, and for each of these sums over tokens, of which half counts. A state
// alone is without the queries, so without corrections it has no reader. What
// decays per key channel cost beside is work of outputs above all, and speaks
// for pieces.
PieceCost::PieceCost(seq::LinearAttr linear, const ChunkItems &items,
                     int64_t chunk, const KernelContext &context)
    : linear(linear), items(items), cores(context.cores) {
  int64_t pass = 2 * items.keys * items.values;
  int64_t within = chunk * (items.keys + items.values);
  int64_t probes = hasTransitions(linear) ? 1 : 0;
  auto cycles = [&](int64_t readers) {
    return chunk * ((1 + readers) * pass + readers * within) / context.dotRate +
           static_cast<int64_t>(
               chunkLatency(readers, items.keys, chunk, context.roundedTo));
  };
  whole = cycles(1 + probes);
  state = cycles(probes);
  product = items.keys * pass / context.dotRate *
                exactProductTime(context.roundedTo) +
            static_cast<int64_t>(latencyOf(double(items.keys), /*barriers=*/2,
                                           context.roundedTo));
}

int64_t PieceCost::of(int64_t chunks, int64_t pieces) const {
  if (pieces == 1)
    return chunks * whole;
  int64_t each = llvm::divideCeil(chunks, pieces);
  // The last piece's state and the first one's matrix are nobody's.
  int64_t first =
      items.heads * ((pieces - 1) * items.perHead() +
                     (pieces - 2) * transitionItemsOf(linear, items, pieces));
  int64_t products = hasTransitions(linear) ? pieces - 2 : 0;
  return llvm::divideCeil(first, cores) * each * state + kLaunchCycles +
         products * product + each * whole;
}

int64_t effc::piecesOf(seq::MixerOpInterface mixer, const CallContext &call) {
  seq::FormAttr form = mixer.getFormAttr();
  if (call.cores == 0 || call.bitStable || !form ||
      form.getKind() != seq::FormKind::Chunkwise ||
      call.kind != seq::EntryKind::Prefill ||
      mixer.getStructure().getMixerClass() != seq::MixerClass::Linear)
    return 1;
  seq::LinearAttr linear = mixer.getStructure().getLinear();
  ChunkItems items = ChunkItems::of(mixer, form.getChunk());
  if (!hasChunkKernel(linear, call.device, items.keys, items.headValues))
    return 1;
  int64_t chunk = form.getChunk();
  int64_t chunks = call.entry.getRows() / chunk;
  int64_t most = std::min({call.cores / items.count(), chunks,
                           mostPieces(linear, items.keys, items.values)});
  PieceCost cost(linear, items, chunk, call);
  int64_t best = 1;
  // Of equals that share chunks the most: a call of several segments has them.
  for (int64_t pieces = 2; pieces <= most; ++pieces)
    if (int64_t cycles = cost.of(chunks, pieces), least = cost.of(chunks, best);
        cycles < least || (cycles == least && best > 1))
      best = pieces;
  return best;
}
