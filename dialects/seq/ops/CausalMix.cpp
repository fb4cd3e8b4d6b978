// seq.causal_mix: all tokens so far, weighted by pairs of absolute positions.
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/reference/Frame.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

static llvm::Error checkPosition(int64_t position, int64_t limit) {
  if (position >= 0 && position < limit)
    return llvm::Error::success();
  return fail("expects 'positions' in [0, " + Twine(limit) + "), but got " +
              Twine(position));
}

LogicalResult CausalMixOp::verify() {
  ShapeFormula shapes(*this);
  if (failed(shapes.check("x", getX(), {"T", "D"})) ||
      failed(shapes.check("positions", getPositions(), {"T"})) ||
      failed(shapes.check("weight", getWeight(), {"P", "P"})) ||
      (getBias() && failed(shapes.check("bias", getBias(), {"P"}))))
    return failure();
  return shapes.check("inputs", getInputs(), {"W", "D"});
}

SmallVector<StateDescriptor> CausalMixOp::getStates() {
  return {{getInputsMutable().getOperandNumber(),
           cast<OpResult>(getNextInputs()).getResultNumber(),
           StateKind::Growing, StateGrowth::MaxContext, getInputs().getType(),
           /*neutral=*/0.0, /*positionDependent=*/true}};
}

OperandRole CausalMixOp::getOperandRole(unsigned index) {
  return detail::roleOf(index, /*tokens=*/2, /*parameters=*/getBias() ? 2 : 1);
}

template <typename S>
static llvm::Error evaluate(CausalMixOp op, Frame<S> &frame) {
  const Tensor<S> &x = frame[op.getX()], &weight = frame[op.getWeight()];
  const Tensor<S> *bias = op.getBias() ? &frame[op.getBias()] : nullptr;
  const Tensor<int32_t> &positions = frame.getIndices(op.getPositions());
  if (llvm::Error error = expectSameRows("x", x, "positions", positions))
    return error;
  Tensor<S> inputs = frame[op.getInputs()];
  int64_t limit = std::min(weight.getDim(0), inputs.getDim(0));
  Tensor<S> y(x.getShape());
  for (int64_t t = 0; t < x.getDim(0); ++t) {
    int64_t p = positions(t);
    if (llvm::Error error = checkPosition(p, limit))
      return error;
    if (t > 0 && p != positions(t - 1) + 1)
      return fail("expects 'positions' each one more than the one before, but "
                  "got " +
                  Twine(p) + " for token " + Twine(t));
    for (int64_t i = 0; i < x.getDim(1); ++i) {
      inputs(p, i) = x(t, i);
      S sum = bias ? (*bias)(p) : S(0);
      for (int64_t s = 0; s <= p; ++s)
        sum += weight(p, s) * inputs(s, i);
      y(t, i) = sum;
    }
  }
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextInputs(), std::move(inputs));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(CausalMixOp)
