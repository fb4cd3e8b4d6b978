// The ops from elements to elements.
#include "dialects/seq/Seq.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/seq/reference/Functions.h"

#include <cmath>

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

LogicalResult ScaleOp::verify() {
  if (!getFactor().isFinite())
    return emitOpError() << "expects a finite 'factor', but got "
                         << getFactorAttr();
  return success();
}

LogicalResult ClampOp::verify() {
  std::optional<APFloat> lower = getLower(), upper = getUpper();
  if (!lower && !upper)
    return emitOpError() << "expects 'lower', 'upper' or both, but got neither";
  if ((lower && lower->isNaN()) || (upper && upper->isNaN()))
    return emitOpError() << "expects bounds that are numbers, but got NaN";
  if (lower && upper && *lower > *upper)
    return emitOpError() << "expects 'lower' of at most 'upper', but got "
                         << getLowerAttr() << " and " << getUpperAttr();
  return success();
}

// Sets the op's result to `f` of each element.
template <typename S, typename Op, typename F>
static llvm::Error map(Op op, Frame<S> &frame, F f) {
  Tensor<S> y = frame[op.getX()];
  for (S &element : y.elements())
    element = f(element);
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}

// Sets the op's result to `f` of each pair of elements.
template <typename S, typename Op, typename F>
static llvm::Error map2(Op op, Frame<S> &frame, F f) {
  Tensor<S> y = frame[op.getA()];
  const Tensor<S> &b = frame[op.getB()];
  // Numbers by themselves, as a token's in a step, have no rows.
  if (y.getRank() > 0)
    if (llvm::Error error = expectSameRows("a", y, "b", b))
      return error;
  for (auto [element, other] : llvm::zip_equal(y.elements(), b.elements()))
    element = f(element, other);
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}

template <typename S> static llvm::Error evaluate(AddOp op, Frame<S> &frame) {
  return map2(op, frame, [](S a, S b) { return a + b; });
}
EFFC_SEQ_REFERENCE(AddOp)

template <typename S> static llvm::Error evaluate(SubOp op, Frame<S> &frame) {
  return map2(op, frame, [](S a, S b) { return a - b; });
}
EFFC_SEQ_REFERENCE(SubOp)

template <typename S> static llvm::Error evaluate(MulOp op, Frame<S> &frame) {
  return map2(op, frame, [](S a, S b) { return a * b; });
}
EFFC_SEQ_REFERENCE(MulOp)

template <typename S> static llvm::Error evaluate(ScaleOp op, Frame<S> &frame) {
  S factor = S(op.getFactor().convertToDouble());
  return map(op, frame, [&](S x) { return factor * x; });
}
EFFC_SEQ_REFERENCE(ScaleOp)

template <typename S> static llvm::Error evaluate(DivOp op, Frame<S> &frame) {
  return map2(op, frame, [](S a, S b) { return a / b; });
}
EFFC_SEQ_REFERENCE(DivOp)

template <typename S> static llvm::Error evaluate(MaxOp op, Frame<S> &frame) {
  return map2(op, frame, [](S a, S b) { return larger(a, b); });
}
EFFC_SEQ_REFERENCE(MaxOp)

template <typename S> static llvm::Error evaluate(NegOp op, Frame<S> &frame) {
  return map(op, frame, [](S x) { return -x; });
}
EFFC_SEQ_REFERENCE(NegOp)

template <typename S> static llvm::Error evaluate(ExpOp op, Frame<S> &frame) {
  return map(op, frame, [](S x) { return std::exp(x); });
}
EFFC_SEQ_REFERENCE(ExpOp)

template <typename S>
static llvm::Error evaluate(SigmoidOp op, Frame<S> &frame) {
  return map(op, frame, [](S x) { return sigmoid(x); });
}
EFFC_SEQ_REFERENCE(SigmoidOp)

template <typename S> static llvm::Error evaluate(SiluOp op, Frame<S> &frame) {
  return map(op, frame, [](S x) { return silu(x); });
}
EFFC_SEQ_REFERENCE(SiluOp)

template <typename S> static llvm::Error evaluate(GeluOp op, Frame<S> &frame) {
  return map(op, frame, [](S x) { return gelu(x); });
}
EFFC_SEQ_REFERENCE(GeluOp)

template <typename S>
static llvm::Error evaluate(GeluTanhOp op, Frame<S> &frame) {
  return map(op, frame, [](S x) { return geluTanh(x); });
}
EFFC_SEQ_REFERENCE(GeluTanhOp)

template <typename S>
static llvm::Error evaluate(SoftplusOp op, Frame<S> &frame) {
  return map(op, frame, [](S x) { return softplus(x); });
}
EFFC_SEQ_REFERENCE(SoftplusOp)

template <typename S>
static llvm::Error evaluate(LogSigmoidOp op, Frame<S> &frame) {
  return map(op, frame, [](S x) { return -softplus(-x); });
}
EFFC_SEQ_REFERENCE(LogSigmoidOp)

template <typename S> static llvm::Error evaluate(TanhOp op, Frame<S> &frame) {
  return map(op, frame, [](S x) { return std::tanh(x); });
}
EFFC_SEQ_REFERENCE(TanhOp)

template <typename S> static llvm::Error evaluate(ReluOp op, Frame<S> &frame) {
  return map(op, frame, [](S x) { return larger(x, S(0)); });
}
EFFC_SEQ_REFERENCE(ReluOp)

template <typename S> static llvm::Error evaluate(LogOp op, Frame<S> &frame) {
  return map(op, frame, [](S x) { return std::log(x); });
}
EFFC_SEQ_REFERENCE(LogOp)

template <typename S> static llvm::Error evaluate(SqrtOp op, Frame<S> &frame) {
  return map(op, frame, [](S x) { return std::sqrt(x); });
}
EFFC_SEQ_REFERENCE(SqrtOp)

template <typename S> static llvm::Error evaluate(CosOp op, Frame<S> &frame) {
  return map(op, frame, [](S x) { return std::cos(x); });
}
EFFC_SEQ_REFERENCE(CosOp)

template <typename S> static llvm::Error evaluate(SinOp op, Frame<S> &frame) {
  return map(op, frame, [](S x) { return std::sin(x); });
}
EFFC_SEQ_REFERENCE(SinOp)

template <typename S> static llvm::Error evaluate(AbsOp op, Frame<S> &frame) {
  return map(op, frame, [](S x) { return std::fabs(x); });
}
EFFC_SEQ_REFERENCE(AbsOp)

// A bound as a double, where it is present.
static std::optional<double> toDouble(std::optional<APFloat> bound) {
  return bound ? std::optional(bound->convertToDouble()) : std::nullopt;
}

template <typename S> static llvm::Error evaluate(ClampOp op, Frame<S> &frame) {
  std::optional<double> lower = toDouble(op.getLower());
  std::optional<double> upper = toDouble(op.getUpper());
  return map(op, frame, [&](S x) { return clamp(x, lower, upper); });
}
EFFC_SEQ_REFERENCE(ClampOp)
