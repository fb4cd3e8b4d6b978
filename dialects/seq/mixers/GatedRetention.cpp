// seq.gated_retention. Retention whose decay depends on the data.
#include "dialects/seq/Seq.h"
#include "dialects/seq/mixers/LinearMixer.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/seq/reference/Functions.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

//===- verifier -----------------------------------------------------------===//

LogicalResult GatedRetentionOp::verifyRules() {
  return expectPositive(*this, "temperature", getTemperatureAttr());
}

//===- what passes know of it ---------------------------------------------===//

StructureAttr GatedRetentionOp::getStructure() {
  LinearStructure structure;
  structure.decay = DecayAxis::Head;
  structure.headsPerGroup =
      getV().getType().getDimSize(1) / getQ().getType().getDimSize(1);
  return structure.get(getContext());
}

CanonicalQuantities GatedRetentionOp::buildTokenMap(OpBuilder &builder,
                                                    Location loc,
                                                    ValueRange tokens,
                                                    ValueRange parameters) {
  MapBuilder m(builder, loc);
  CanonicalQuantities quantities;
  quantities.query = m.scaled(tokens[0], getScale().convertToDouble());
  quantities.key = tokens[1];
  quantities.value = tokens[2];
  quantities.logDecay =
      m.scaled(m.logSigmoid(tokens[3]), 1 / getTemperature().convertToDouble());
  return quantities;
}

//===- meaning ------------------------------------------------------------===//

template <typename S>
static llvm::Error evaluate(GatedRetentionOp op, Frame<S> &frame) {
  const Tensor<S> &q = frame[op.getQ()];
  const Tensor<S> &k = frame[op.getK()];
  const Tensor<S> &v = frame[op.getV()];
  const Tensor<S> &gate = frame[op.getGate()];
  if (llvm::Error error = expectSameRows("q", q, "k", k))
    return error;
  if (llvm::Error error = expectSameRows("q", q, "v", v))
    return error;
  if (llvm::Error error = expectSameRows("q", q, "gate", gate))
    return error;
  S scale = op.getScale().convertToDouble();
  Tensor<S> y(v.getShape());
  Tensor<S> state = frame[op.getState()];
  int64_t heads = v.getDim(1), keys = q.getDim(2), values = v.getDim(2);
  int64_t headsPerGroup = heads / q.getDim(1);
  S temperature = op.getTemperature().convertToDouble();
  for (int64_t t = 0; t < v.getDim(0); ++t)
    for (int64_t h = 0; h < heads; ++h) {
      int64_t g = h / headsPerGroup;
      S decay = std::exp(-softplus(-gate(t, h)) / temperature);
      for (int64_t j = 0; j < keys; ++j)
        for (int64_t i = 0; i < values; ++i)
          state(h, j, i) = decay * state(h, j, i) + k(t, g, j) * v(t, h, i);
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
EFFC_SEQ_REFERENCE(GatedRetentionOp)
