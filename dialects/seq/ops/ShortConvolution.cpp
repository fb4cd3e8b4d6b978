// seq.short_convolution: a causal convolution with a tail of past inputs.
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/seq/reference/Functions.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

LogicalResult ShortConvolutionOp::verify() {
  ShapeFormula shapes(*this);
  if (failed(shapes.check("x", getX(), {"T", "D"})) ||
      failed(shapes.check("weight", getWeight(), {"W", "D"})))
    return failure();
  if (shapes["W"] < 2)
    return emitOpError() << "expects 'weight' with W of at least 2, but got "
                         << shapes["W"];
  if (getBias() && failed(shapes.check("bias", getBias(), {"D"})))
    return failure();
  shapes.bind("W-1", shapes["W"] - 1);
  if (!getFirstChannel())
    return shapes.check("tail", getTail(), {"W-1", "D"});
  if (failed(shapes.check("tail", getTail(), {"W-1", "S"})))
    return failure();
  int64_t first = *getFirstChannel();
  if (first < 0 || first + shapes["D"] > shapes["S"])
    return emitOpError() << "expects channels from " << first << " on, "
                         << shapes["D"] << " of them, among the " << shapes["S"]
                         << " of 'tail'";
  return success();
}

SmallVector<StateDescriptor> ShortConvolutionOp::getStates() {
  return {{getTailMutable().getOperandNumber(),
           cast<OpResult>(getNextTail()).getResultNumber(), StateKind::Tail,
           StateGrowth::Fixed, getTail().getType(), /*neutral=*/0.0,
           /*positionDependent=*/false}};
}

OperandRole ShortConvolutionOp::getOperandRole(unsigned index) {
  if (index == getXMutable().getOperandNumber())
    return OperandRole::Token;
  if (index == getTailMutable().getOperandNumber())
    return OperandRole::State;
  return OperandRole::Parameter;
}

// The rows of `tail`, of its channels from `first` on, then those of `x`.
template <typename S>
static Tensor<S> stack(const Tensor<S> &tail, int64_t first,
                       const Tensor<S> &x) {
  int64_t past = tail.getDim(0);
  Tensor<S> rows({past + x.getDim(0), x.getDim(1)});
  for (int64_t i = 0; i < past; ++i)
    for (int64_t d = 0; d < x.getDim(1); ++d)
      rows(i, d) = tail(i, first + d);
  llvm::copy(x.elements(), rows.elements().begin() + past * x.getDim(1));
  return rows;
}

template <typename S>
static llvm::Error evaluate(ShortConvolutionOp op, Frame<S> &frame) {
  const Tensor<S> &x = frame[op.getX()];
  const Tensor<S> &weight = frame[op.getWeight()];
  const Tensor<S> *bias = op.getBias() ? &frame[op.getBias()] : nullptr;
  int64_t first = op.getFirstChannel().value_or(0), tokens = x.getDim(0);
  Tensor<S> inputs = stack(frame[op.getTail()], first, x);

  Tensor<S> y(x.getShape());
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t d = 0; d < x.getDim(1); ++d) {
      S sum = bias ? (*bias)(d) : S(0);
      for (int64_t w = 0; w < weight.getDim(0); ++w)
        sum += weight(w, d) * inputs(t + w, d);
      y(t, d) = op.getActivation() == Activation::Silu ? silu(sum) : sum;
    }

  Tensor<S> nextTail = frame[op.getTail()];
  for (int64_t i = 0; i < nextTail.getDim(0); ++i)
    for (int64_t d = 0; d < x.getDim(1); ++d)
      nextTail(i, first + d) = inputs(tokens + i, d);
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextTail(), std::move(nextTail));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(ShortConvolutionOp)
