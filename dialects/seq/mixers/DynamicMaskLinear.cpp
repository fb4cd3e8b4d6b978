// seq.dynamic_mask_linear. Dynamic mask attention, read as a linear recurrence.
#include "dialects/seq/Seq.h"
#include "dialects/seq/mixers/LinearMixer.h"
#include "dialects/seq/reference/Frame.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

//===- what passes know of it ---------------------------------------------===//

StructureAttr DynamicMaskLinearOp::getStructure() {
  LinearStructure structure;
  structure.inputGate = InputGate::Value;
  structure.headsPerGroup =
      getV().getType().getDimSize(1) / getQ().getType().getDimSize(1);
  return structure.get(getContext());
}

CanonicalQuantities DynamicMaskLinearOp::buildTokenMap(OpBuilder &builder,
                                                       Location loc,
                                                       ValueRange tokens,
                                                       ValueRange parameters) {
  MapBuilder m(builder, loc);
  CanonicalQuantities quantities;
  quantities.query = tokens[0];
  quantities.key = tokens[1];
  quantities.value = m.product(tokens[3], "th", tokens[2], "thv", "thv");
  return quantities;
}

//===- meaning ------------------------------------------------------------===//

template <typename S>
static llvm::Error evaluate(DynamicMaskLinearOp op, Frame<S> &frame) {
  const Tensor<S> &q = frame[op.getQ()], &k = frame[op.getK()];
  const Tensor<S> &v = frame[op.getV()], &delta = frame[op.getDelta()];
  for (auto [name, tensor] : {std::pair("k", &k), {"v", &v}, {"delta", &delta}})
    if (llvm::Error error = expectSameRows("q", q, name, *tensor))
      return error;
  Tensor<S> y(v.getShape());
  Tensor<S> state = frame[op.getState()];
  int64_t heads = v.getDim(1);
  for (int64_t t = 0; t < v.getDim(0); ++t)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < v.getDim(2); ++i) {
        int64_t g = h / (heads / q.getDim(1));
        S read = 0;
        for (int64_t j = 0; j < q.getDim(2); ++j) {
          state(h, j, i) += delta(t, h) * k(t, g, j) * v(t, h, i);
          read += q(t, g, j) * state(h, j, i);
        }
        y(t, h, i) = read;
      }
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextState(), std::move(state));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(DynamicMaskLinearOp)
