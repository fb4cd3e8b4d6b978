// seq.channel_convolution: a token's channels mixed with their neighbours.
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/reference/Frame.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

LogicalResult ChannelConvolutionOp::verify() {
  ShapeFormula shapes(*this);
  if (failed(getWeight() ? shapes.check("x", getX(), {"T", "D"})
                         : shapes.check("x", getX(), {"T", "M", "D"})) ||
      (getWeight() &&
       failed(shapes.check("weight", getWeight(), {"T", "M"}))) ||
      (getBias() && failed(shapes.check("bias", getBias(), {"T"}))))
    return failure();
  int64_t before = getBefore();
  if (before < 0 || before >= shapes["M"])
    return emitOpError() << "expects 'before' in [0, " << shapes["M"]
                         << "), but got " << before;
  return shapes.check("y", getY(), {"T", "D"});
}

template <typename S>
static llvm::Error evaluate(ChannelConvolutionOp op, Frame<S> &frame) {
  const Tensor<S> &x = frame[op.getX()];
  const Tensor<S> *weight = op.getWeight() ? &frame[op.getWeight()] : nullptr;
  const Tensor<S> *bias = op.getBias() ? &frame[op.getBias()] : nullptr;
  for (auto [name, tensor] : {std::pair("weight", weight), {"bias", bias}})
    if (tensor)
      if (llvm::Error error = expectSameRows("x", x, name, *tensor))
        return error;
  int64_t taps = (weight ? *weight : x).getDim(1);
  int64_t tokens = x.getDim(0), channels = x.getDim(weight ? 1 : 2);
  Tensor<S> y({tokens, channels});
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t d = 0; d < channels; ++d) {
      S sum = bias ? (*bias)(t) : S(0);
      for (int64_t m = 0; m < taps; ++m) {
        int64_t from = d + m - int64_t(op.getBefore());
        if (from >= 0 && from < channels)
          sum += weight ? (*weight)(t, m) * x(t, from) : x(t, m, from);
      }
      y(t, d) = sum;
    }
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(ChannelConvolutionOp)
