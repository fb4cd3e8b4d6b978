// seq.running_total. The sum of all tokens so far.
#include "dialects/seq/Seq.h"
#include "dialects/seq/mixers/LinearMixer.h"
#include "dialects/seq/reference/Frame.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

//===- what passes know of it ---------------------------------------------===//

StructureAttr RunningTotalOp::getStructure() {
  return LinearStructure().get(getContext());
}

CanonicalQuantities RunningTotalOp::buildTokenMap(OpBuilder &builder,
                                                  Location loc,
                                                  ValueRange tokens,
                                                  ValueRange parameters) {
  CanonicalQuantities quantities;
  quantities.query = quantities.key = ConstantOp::create(
      builder, loc, 1.0, {getX().getType().getDimSize(1), 1});
  quantities.value = tokens[0];
  return quantities;
}

//===- meaning ------------------------------------------------------------===//

template <typename S>
static llvm::Error evaluate(RunningTotalOp op, Frame<S> &frame) {
  const Tensor<S> &x = frame[op.getX()];
  Tensor<S> y(x.getShape());
  Tensor<S> state = frame[op.getState()];
  for (int64_t t = 0; t < x.getDim(0); ++t)
    for (int64_t h = 0; h < x.getDim(1); ++h)
      for (int64_t i = 0; i < x.getDim(2); ++i)
        y(t, h, i) = state(h, 0, i) += x(t, h, i);
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextState(), std::move(state));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(RunningTotalOp)
