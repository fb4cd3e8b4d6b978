// seq.linear and seq.lm_head: products with a matrix of weights.
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/reference/Frame.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

LogicalResult LinearOp::verify() {
  ShapeFormula shapes(*this);
  if (getWeight().getType().getRank() == 3) {
    if (failed(shapes.check("x", getX(), {"T", "H", "I"})) ||
        failed(shapes.check("weight", getWeight(), {"H", "O", "I"})) ||
        (getBias() && failed(shapes.check("bias", getBias(), {"H", "O"}))))
      return failure();
    return shapes.check("y", getY(), {"T", "H", "O"});
  }
  if (failed(shapes.check("x", getX(), {"T", "I"})) ||
      failed(shapes.check("weight", getWeight(), {"O", "I"})))
    return failure();
  if (getBias() && failed(shapes.check("bias", getBias(), {"O"})))
    return failure();
  return shapes.check("y", getY(), {"T", "O"});
}

LogicalResult LmHeadOp::verify() {
  ShapeFormula shapes(*this);
  if (failed(shapes.check("x", getX(), {"R", "D"})) ||
      failed(shapes.check("weight", getWeight(), {"N", "D"})))
    return failure();
  return shapes.check("logits", getLogits(), {"R", "N"});
}

// x [T, I] times the transpose of weight [O, I], summed over I in order. Nearly
// all of a model's work is here, so the tokens of one input lie side by side:
// they share an element of the weight, and their sums are independent.
template <typename S>
static Tensor<S> multiply(const Tensor<S> &x, const Tensor<S> &weight) {
  int64_t tokens = x.getDim(0), inputs = x.getDim(1), rows = weight.getDim(0);
  std::vector<S> columns(inputs * tokens);
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t i = 0; i < inputs; ++i)
      columns[i * tokens + t] = x(t, i);
  Tensor<S> y({tokens, rows});
  std::vector<S> sums(tokens);
  for (int64_t o = 0; o < rows; ++o) {
    llvm::fill(sums, S(0));
    for (int64_t i = 0; i < inputs; ++i) {
      S element = weight.elements()[o * inputs + i];
      const S *column = columns.data() + i * tokens;
      for (int64_t t = 0; t < tokens; ++t)
        sums[t] += column[t] * element;
    }
    for (int64_t t = 0; t < tokens; ++t)
      y(t, o) = sums[t];
  }
  return y;
}

// The same with a matrix for each block of channels: weight [H, O, I].
template <typename S>
static Tensor<S> multiplyBlocks(const Tensor<S> &x, const Tensor<S> &weight) {
  int64_t tokens = x.getDim(0), blocks = weight.getDim(0);
  int64_t outputs = weight.getDim(1), inputs = weight.getDim(2);
  Tensor<S> y({tokens, blocks, outputs});
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t h = 0; h < blocks; ++h)
      for (int64_t o = 0; o < outputs; ++o)
        for (int64_t i = 0; i < inputs; ++i)
          y(t, h, o) += x(t, h, i) * weight(h, o, i);
  return y;
}

template <typename S>
static llvm::Error evaluateBlocks(LinearOp op, Frame<S> &frame) {
  Tensor<S> y = multiplyBlocks(frame[op.getX()], frame[op.getWeight()]);
  if (op.getBias()) {
    const Tensor<S> &bias = frame[op.getBias()];
    for (int64_t t = 0; t < y.getDim(0); ++t)
      for (int64_t h = 0; h < y.getDim(1); ++h)
        for (int64_t o = 0; o < y.getDim(2); ++o)
          y(t, h, o) += bias(h, o);
  }
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}

template <typename S>
static llvm::Error evaluate(LinearOp op, Frame<S> &frame) {
  if (op.getWeight().getType().getRank() == 3)
    return evaluateBlocks(op, frame);
  Tensor<S> y = multiply(frame.asMultiplied(op.getX(), op.getWeight()),
                         frame[op.getWeight()]);
  if (op.getBias()) {
    const Tensor<S> &bias = frame[op.getBias()];
    for (int64_t t = 0; t < y.getDim(0); ++t)
      for (int64_t o = 0; o < y.getDim(1); ++o)
        y(t, o) += bias(o);
  }
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(LinearOp)

template <typename S>
static llvm::Error evaluate(LmHeadOp op, Frame<S> &frame) {
  frame.set(op.getLogits(),
            multiply(frame.asMultiplied(op.getX(), op.getWeight()),
                     frame[op.getWeight()]));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(LmHeadOp)
