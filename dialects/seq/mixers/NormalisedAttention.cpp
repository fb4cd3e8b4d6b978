// seq.normalised_attention. Attention without softmax, over its denominator.
#include "dialects/seq/Seq.h"
#include "dialects/seq/mixers/LinearMixer.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/seq/reference/Functions.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

//===- what passes know of it ---------------------------------------------===//

StructureAttr NormalisedAttentionOp::getStructure() {
  LinearStructure structure;
  structure.normaliser = Normaliser::KeySum;
  structure.headsPerGroup =
      getV().getType().getDimSize(1) / getQ().getType().getDimSize(1);
  return structure.get(getContext());
}

CanonicalQuantities
NormalisedAttentionOp::buildTokenMap(OpBuilder &builder, Location loc,
                                     ValueRange tokens, ValueRange parameters) {
  MapBuilder m(builder, loc);
  CanonicalQuantities quantities;
  quantities.query = m.scaled(tokens[0], getScale().convertToDouble());
  quantities.key = tokens[1];
  quantities.value = tokens[2];
  return quantities;
}

Value NormalisedAttentionOp::buildReadOut(
    OpBuilder &builder, Location loc, const LinearReading &reading,
    const CanonicalQuantities &quantities) {
  MapBuilder m(builder, loc);
  Value sum = m.add(reading.denominator, m.constant(getEps().convertToDouble(),
                                                    reading.denominator));
  Value wide =
      m.create<BroadcastOp>(sum, reading.read, ArrayRef<int64_t>{0, 1});
  return m.create<DivOp>(reading.read, wide);
}

//===- meaning ------------------------------------------------------------===//

template <typename S>
static llvm::Error evaluate(NormalisedAttentionOp op, Frame<S> &frame) {
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
  Tensor<S> sum = frame[op.getSum()];
  S eps = op.getEps().convertToDouble();
  for (int64_t t = 0; t < v.getDim(0); ++t)
    for (int64_t h = 0; h < heads; ++h) {
      int64_t g = h / headsPerGroup;
      for (int64_t j = 0; j < keys; ++j)
        for (int64_t i = 0; i < values; ++i)
          state(h, j, i) += k(t, g, j) * v(t, h, i);
      S total = 0;
      for (int64_t j = 0; j < keys; ++j) {
        sum(h, j) += k(t, g, j);
        total += q(t, g, j) * sum(h, j);
      }
      for (int64_t i = 0; i < values; ++i) {
        S read = 0;
        for (int64_t j = 0; j < keys; ++j)
          read += q(t, g, j) * state(h, j, i);
        y(t, h, i) = scale * read / (scale * total + eps);
      }
    }
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextState(), std::move(state));
  frame.set(op.getNextSum(), std::move(sum));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(NormalisedAttentionOp)
