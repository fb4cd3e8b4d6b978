// seq.running_sum: sums of the tokens up to each one.
#include "dialects/seq/Seq.h"
#include "dialects/seq/reference/Frame.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

LogicalResult RunningSumOp::verify() {
  RankedTensorType type = getX().getType();
  if (type.getRank() == 0 || type.isDynamicDim(0))
    return emitOpError() << "expects 'x' of shape T,... with a static T, but "
                            "got "
                         << type;
  return success();
}

template <typename S>
static llvm::Error evaluate(RunningSumOp op, Frame<S> &frame) {
  const Tensor<S> &x = frame[op.getX()];
  int64_t tokens = x.getDim(0);
  int64_t columns = x.size() / tokens; // everything but T
  Tensor<S> y(x.getShape());
  for (int64_t column = 0; column < columns; ++column) {
    S sum = 0;
    for (int64_t step = 0; step < tokens; ++step) {
      int64_t i = op.getReverse() ? tokens - 1 - step : step;
      S term = x.elements()[i * columns + column];
      y.elements()[i * columns + column] = op.getExclusive() ? sum : sum + term;
      sum += term;
    }
  }
  frame.set(op.getY(), std::move(y));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(RunningSumOp)
