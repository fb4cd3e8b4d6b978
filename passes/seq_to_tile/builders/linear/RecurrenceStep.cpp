// A linear recurrence token by token, as CanonicalQuantities.h writes it.
//
// An item is a block of value channels of one head of one segment: they share
// query, key and decays and never meet. Decode has one token and no loop, so
// that the state passes through registers once. Floor: state read and written
// (decode); 5 K V FLOPs per token and head, 4 without decay, 7 or 9 with a
// rank-one correction (prefill).
#include "passes/seq_to_tile/builders/Builders.h"
#include "passes/seq_to_tile/builders/linear/StepItems.h"
#include "passes/seq_to_tile/builders/linear/TokenSteps.h"

using namespace mlir;
using namespace effc;

// All tokens of a block of value channels, whose state is stored; from states
// before the call to those after it.
static FailureOr<Carried> passOver(KernelBuilder &k, Recurrence &r,
                                   Carried states) {
  TokenSteps tokens(k, r);
  tokens.emitConstants();
  states.matrix = r.load(k, r.matrix);
  if (r.imaginary)
    states.imaginary = r.load(k, *r.imaginary);
  if (k.isDecode())
    return tokens.onlyStep(states);
  FailureOr<Carried> after =
      tokens.stepsOver(k.index(0), r.segment.getLength(), states);
  if (failed(after))
    return failure();
  r.store(k, r.matrix, after->matrix);
  if (r.imaginary)
    r.store(k, *r.imaginary, after->imaginary);
  return after;
}

std::optional<std::string> effc::obstacleToSteps(KernelBuilder &k) {
  return TokenMap::findObstacle(k, cast<seq::MixerOpInterface>(k.getRoot()),
                                /*chunked=*/false);
}

LogicalResult effc::buildRecurrenceStep(KernelBuilder &k) {
  auto mixer = cast<seq::MixerOpInterface>(k.getRoot());
  FailureOr<Recurrence> begun = beginRecurrence(
      k, mixer, /*chunked=*/false, k.getContext().sizes.stepValues);
  if (failed(begun))
    return failure();
  Recurrence &r = *begun;
  OpBuilder &b = k.ops();
  OpBuilder::InsertionGuard guard(b);
  Carried shared;
  if (r.sum)
    shared.sum = r.load(k, *r.sum);
  if (r.maximum)
    shared.maximum = r.load(k, *r.maximum);
  scf::ForOp overBlocks;
  if (r.blocksInside > 1) {
    overBlocks =
        scf::ForOp::create(b, k.loc(), k.index(0), k.index(r.blocksInside),
                           k.index(1), shared.values());
    b.setInsertionPointToStart(overBlocks.getBody());
    r.setFirstValue(k.mul(overBlocks.getInductionVar(), r.map.getValueBlock()));
  }
  FailureOr<Carried> last = passOver(k, r, shared);
  if (failed(last))
    return failure();
  last->matrix = last->imaginary = {};
  if (overBlocks) {
    if (SmallVector<Value> values = last->values(); !values.empty())
      scf::YieldOp::create(b, k.loc(), values);
    b.setInsertionPointAfter(overBlocks);
    ValueRange results = overBlocks.getResults();
    if (r.sum)
      last->sum = results.front();
    if (r.maximum)
      last->maximum = results.back();
  }
  if (r.sum)
    r.store(k, *r.sum, last->sum);
  if (r.maximum)
    r.store(k, *r.maximum, last->maximum);
  return success();
}
