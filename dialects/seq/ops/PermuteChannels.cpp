// seq.permute_channels: a token's channels in a constant order.
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/reference/Frame.h"

#include <cmath>

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

LogicalResult PermuteChannelsOp::verify() {
  constexpr int64_t kMostChannels = int64_t(1) << 24;
  ShapeFormula shapes(*this);
  if (failed(shapes.check("x", getX(), {"T", "D"})) ||
      failed(shapes.check("order", getOrder(), {"D"})))
    return failure();
  if (shapes["D"] > kMostChannels)
    return emitOpError() << "expects at most " << kMostChannels
                         << " channels, which f32 can number, but got "
                         << shapes["D"];
  return success();
}

template <typename S>
static llvm::Error evaluate(PermuteChannelsOp op, Frame<S> &frame) {
  const Tensor<S> &x = frame[op.getX()], &order = frame[op.getOrder()];
  int64_t tokens = x.getDim(0), channels = x.getDim(1);
  Tensor<S> y({tokens, channels});
  for (int64_t d = 0; d < channels; ++d) {
    auto from = double(order(d));
    if (!(from >= 0 && from < double(channels)) || from != std::floor(from))
      return fail("expects 'order' of whole numbers in [0, " + Twine(channels) +
                  "), but got " + std::to_string(from) + " as number " +
                  Twine(d));
    for (int64_t t = 0; t < tokens; ++t)
      y(t, d) = x(t, int64_t(from));
  }
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(PermuteChannelsOp)
