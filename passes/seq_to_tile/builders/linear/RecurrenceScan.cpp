// A linear recurrence as a scan of two levels: the tokens of a piece one after
// another, and pieces of a sequence beside one another.
//
// A first launch leaves the state that each piece makes from nothing, and what
// its tokens do to the state before them (ScanMemory.h). In the second each
// piece goes on from those before it, token by token, and gives its outputs. A
// segment in one piece takes its tokens in the second launch alone. No axis of
// decay, normaliser or stabiliser is in the way; what a token probes the state
// for is: its correction is no number.
//
// Floor: 5 K V FLOPs per token and head, twice, or the bytes of the tokens,
// twice.
#include "passes/seq_to_tile/builders/Builders.h"
#include "passes/seq_to_tile/builders/linear/ScanMemory.h"
#include "passes/seq_to_tile/builders/linear/SegmentPieces.h"
#include "passes/seq_to_tile/builders/linear/StepItems.h"
#include "passes/seq_to_tile/builders/linear/TokenSteps.h"

using namespace mlir;
using namespace effc;

namespace {
/// One of the two launches, of an item whose value channels are set.
class ScanKernel {
public:
  ScanKernel(KernelBuilder &k, Recurrence &r, int64_t places, bool fillsPlaces)
      : k(k), r(r), tokens(k, r, /*givesOutputs=*/!fillsPlaces),
        memory(k, r, places, fillsPlaces),
        pieces(SegmentPieces::of(k, r, places, r.segment.getLength())) {
    tokens.emitConstants();
  }
  LogicalResult buildStates();
  LogicalResult buildOutputs();

private:
  /// The sequence's own state where the condition holds, else `otherwise`.
  Carried ownWhere(Value condition, const Carried &otherwise);
  void store(const Carried &last);

  KernelBuilder &k;
  Recurrence &r;
  TokenSteps tokens;
  ScanMemory memory;
  SegmentPieces pieces;
};
} // namespace

Carried ScanKernel::ownWhere(Value condition, const Carried &otherwise) {
  return otherwise.with(k.where(condition, otherwise.values(),
                                [&] { return memory.ofSequence().values(); }));
}

LogicalResult ScanKernel::buildStates() {
  PieceToKeep kept = PieceToKeep::of(k, r, pieces);
  Carried start = ownWhere(kept.begins, memory.nothing());
  FailureOr<Carried> made = tokens.stepsOver(pieces.from, kept.to, start);
  if (failed(made))
    return failure();
  k.when(kept.isThere, [&] { memory.keep(pieces.place(k, r.piece), *made); });
  return success();
}

LogicalResult ScanKernel::buildOutputs() {
  PieceStart start = PieceStart::of(k, r, pieces);
  Carried before = ownWhere(start.isWhole, memory.sum(start.from, start.to));
  // Nobody asks what the last launch's tokens do to the state before them.
  before.decay = before.decayImaginary = before.valueDecay = {};
  FailureOr<Carried> last = tokens.stepsOver(pieces.from, pieces.to, before);
  if (failed(last))
    return failure();
  k.when(start.reachesEnd(k, pieces, r.segment.getLength()),
         [&] { store(*last); });
  return success();
}

void ScanKernel::store(const Carried &last) {
  r.store(k, r.matrix, last.matrix);
  if (r.imaginary)
    r.store(k, *r.imaginary, last.imaginary);
  if (r.sum)
    r.store(k, *r.sum, last.sum);
  if (r.maximum)
    r.store(k, *r.maximum, last.maximum);
}

static LogicalResult buildLaunch(KernelBuilder &k, bool fillsPlaces) {
  auto mixer = cast<seq::MixerOpInterface>(k.getRoot());
  int64_t places = k.getContext().sizes.pieces;
  FailureOr<Recurrence> begun = beginRecurrence(
      k, mixer, /*chunked=*/false, k.getContext().sizes.stepValues, places);
  if (failed(begun))
    return failure();
  Recurrence &r = *begun;
  OpBuilder &b = k.ops();
  OpBuilder::InsertionGuard guard(b);
  if (r.blocksInside > 1) {
    auto overBlocks = scf::ForOp::create(b, k.loc(), k.index(0),
                                         k.index(r.blocksInside), k.index(1));
    b.setInsertionPointToStart(overBlocks.getBody());
    r.setFirstValue(k.mul(overBlocks.getInductionVar(), r.map.getValueBlock()));
  }
  ScanKernel kernel(k, r, places, fillsPlaces);
  return fillsPlaces ? kernel.buildStates() : kernel.buildOutputs();
}

LogicalResult effc::buildRecurrenceScan(KernelBuilder &k) {
  if (k.getContext().sizes.pieces == 1)
    return buildRecurrenceStep(k);
  return buildLaunch(k, /*fillsPlaces=*/true);
}

LogicalResult effc::buildScanOutputs(KernelBuilder &k) {
  return buildLaunch(k, /*fillsPlaces=*/false);
}
