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
      failed(shapes.check("positions", getPositions(), {"T"})))
    return failure();
  bool isWide = getWeight().getType().getRank() == 3;
  if (failed(isWide ? shapes.check("weight", getWeight(), {"P", "P", "M"})
                    : shapes.check("weight", getWeight(), {"P", "P"})))
    return failure();
  if (isWide && getBias())
    return emitOpError("expects no 'bias' beside a weight of P,P,M; the "
                       "'seq.channel_convolution' of its sums adds it");
  if ((getBias() && failed(shapes.check("bias", getBias(), {"P"}))) ||
      failed(shapes.check("inputs", getInputs(), {"W", "D"})))
    return failure();
  return isWide ? shapes.check("y", getY(), {"T", "M", "D"})
                : shapes.check("y", getY(), {"T", "D"});
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
  // Of a weight for each pair of positions there is one sum.
  int64_t channels = x.getDim(1);
  int64_t sums = weight.size() / (weight.getDim(0) * weight.getDim(1));
  std::vector<S> y;
  for (int64_t t = 0; t < x.getDim(0); ++t) {
    int64_t p = positions(t);
    if (llvm::Error error = checkPosition(p, limit))
      return error;
    if (t > 0 && p != positions(t - 1) + 1)
      return fail("expects 'positions' each one more than the one before, but "
                  "got " +
                  Twine(p) + " for token " + Twine(t));
    for (int64_t i = 0; i < channels; ++i)
      inputs(p, i) = x(t, i);
    for (int64_t m = 0; m < sums; ++m)
      for (int64_t i = 0; i < channels; ++i) {
        S sum = bias ? (*bias)(p) : S(0);
        for (int64_t s = 0; s <= p; ++s)
          sum += weight.elements()[(p * weight.getDim(1) + s) * sums + m] *
                 inputs(s, i);
        y.push_back(sum);
      }
  }
  SmallVector<int64_t> shape(op.getY().getType().getShape());
  shape.front() = x.getDim(0);
  frame.set(op.getY(), Tensor<S>(shape, std::move(y)));
  frame.set(op.getNextInputs(), std::move(inputs));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(CausalMixOp)
