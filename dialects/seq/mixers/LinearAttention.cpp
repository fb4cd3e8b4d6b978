// seq.linear_attention. Attention without softmax.
#include "dialects/seq/Seq.h"
#include "dialects/seq/mixers/LinearMixer.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/seq/reference/Functions.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

//===- what passes know of it ---------------------------------------------===//

StructureAttr LinearAttentionOp::getStructure() {
  LinearStructure structure;
  structure.headsPerGroup =
      getV().getType().getDimSize(1) / getQ().getType().getDimSize(1);
  return structure.get(getContext());
}

CanonicalQuantities LinearAttentionOp::buildTokenMap(OpBuilder &builder,
                                                     Location loc,
                                                     ValueRange tokens,
                                                     ValueRange parameters) {
  MapBuilder m(builder, loc);
  CanonicalQuantities quantities;
  quantities.query = m.scaled(tokens[0], getScale().convertToDouble());
  quantities.key = tokens[1];
  quantities.value = tokens[2];
  return quantities;
}

//===- meaning ------------------------------------------------------------===//

template <typename S>
static llvm::Error evaluate(LinearAttentionOp op, Frame<S> &frame) {
  const Tensor<S> &q = frame[op.getQ()];
  const Tensor<S> &k = frame[op.getK()];
  const Tensor<S> &v = frame[op.getV()];
  if (llvm::Error error = expectSameRows("q", q, "k", k))
    return error;
  if (llvm::Error error = expectSameRows("q", q, "v", v))
    return error;
  S scale = op.getScale().convertToDouble();
  Tensor<S> y(v.getShape());
  Tensor<S> state = frame[op.getState()];
  int64_t heads = v.getDim(1), keys = q.getDim(2), values = v.getDim(2);
  int64_t headsPerGroup = heads / q.getDim(1);
  for (int64_t t = 0; t < v.getDim(0); ++t)
    for (int64_t h = 0; h < heads; ++h) {
      int64_t g = h / headsPerGroup;
      for (int64_t j = 0; j < keys; ++j)
        for (int64_t i = 0; i < values; ++i)
          state(h, j, i) += k(t, g, j) * v(t, h, i);
      for (int64_t i = 0; i < values; ++i) {
        S read = 0;
        for (int64_t j = 0; j < keys; ++j)
          read += q(t, g, j) * state(h, j, i);
        y(t, h, i) = scale * read;
      }
    }
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextState(), std::move(state));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(LinearAttentionOp)
