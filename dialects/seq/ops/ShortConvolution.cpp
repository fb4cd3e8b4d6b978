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
  return shapes.check("tail", getTail(), {"W-1", "D"});
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

// The rows of `tail`, then those of `x`.
template <typename S>
static Tensor<S> stack(const Tensor<S> &tail, const Tensor<S> &x) {
  Tensor<S> rows({tail.getDim(0) + x.getDim(0), x.getDim(1)});
  auto end = llvm::copy(tail.elements(), rows.elements().begin());
  llvm::copy(x.elements(), end);
  return rows;
}

template <typename S>
static llvm::Error evaluate(ShortConvolutionOp op, Frame<S> &frame) {
  const Tensor<S> &x = frame[op.getX()];
  const Tensor<S> &weight = frame[op.getWeight()];
  const Tensor<S> *bias = op.getBias() ? &frame[op.getBias()] : nullptr;
  Tensor<S> inputs = stack(frame[op.getTail()], x);
  int64_t tokens = x.getDim(0);

  Tensor<S> y(x.getShape());
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t d = 0; d < x.getDim(1); ++d) {
      S sum = bias ? (*bias)(d) : S(0);
      for (int64_t w = 0; w < weight.getDim(0); ++w)
        sum += weight(w, d) * inputs(t + w, d);
      y(t, d) = op.getActivation() == Activation::Silu ? silu(sum) : sum;
    }

  Tensor<S> nextTail(frame[op.getTail()].getShape());
  for (int64_t i = 0; i < nextTail.getDim(0); ++i)
    for (int64_t d = 0; d < nextTail.getDim(1); ++d)
      nextTail(i, d) = inputs(tokens + i, d);
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextTail(), std::move(nextTail));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(ShortConvolutionOp)
