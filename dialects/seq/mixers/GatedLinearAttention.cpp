// seq.gated_linear_attention. Gated linear attention.
#include "dialects/seq/Seq.h"
#include "dialects/seq/mixers/LinearMixer.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/seq/reference/Functions.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

//===- verifier -----------------------------------------------------------===//

LogicalResult GatedLinearAttentionOp::verifyRules() {
  if (!getKeyGate() && !getValueGate())
    return emitOpError("expects 'key_gate', 'value_gate' or both, but got "
                       "neither; without decay it is 'seq.linear_attention'");
  return expectPositive(*this, "temperature", getTemperatureAttr());
}

//===- what passes know of it ---------------------------------------------===//

StructureAttr GatedLinearAttentionOp::getStructure() {
  LinearStructure structure;
  structure.decay = !getValueGate() ? DecayAxis::Key
                    : !getKeyGate() ? DecayAxis::Value
                                    : DecayAxis::KeyAndValue;
  return structure.get(getContext());
}

CanonicalQuantities
GatedLinearAttentionOp::buildTokenMap(OpBuilder &builder, Location loc,
                                      ValueRange tokens,
                                      ValueRange parameters) {
  MapBuilder m(builder, loc);
  auto logDecay = [&](Value gate) {
    return m.scaled(m.logSigmoid(gate), 1 / getTemperature().convertToDouble());
  };
  CanonicalQuantities quantities;
  quantities.query = m.scaled(tokens[0], getScale().convertToDouble());
  quantities.key = tokens[1];
  quantities.value = tokens[2];
  if (getKeyGate())
    quantities.logDecay = logDecay(tokens[3]);
  if (getValueGate())
    quantities.valueLogDecay = logDecay(tokens.back());
  return quantities;
}

//===- meaning ------------------------------------------------------------===//

template <typename S>
static llvm::Error evaluate(GatedLinearAttentionOp op, Frame<S> &frame) {
  const Tensor<S> &q = frame[op.getQ()];
  const Tensor<S> &k = frame[op.getK()];
  const Tensor<S> &v = frame[op.getV()];
  const Tensor<S> *keyGate =
      op.getKeyGate() ? &frame[op.getKeyGate()] : nullptr;
  const Tensor<S> *valueGate =
      op.getValueGate() ? &frame[op.getValueGate()] : nullptr;
  for (auto [name, tokens] : {std::pair("k", &k),
                              {"v", &v},
                              {"key_gate", keyGate},
                              {"value_gate", valueGate}})
    if (tokens)
      if (llvm::Error error = expectSameRows("q", q, name, *tokens))
        return error;
  S scale = op.getScale().convertToDouble();
  S temperature = op.getTemperature().convertToDouble();
  auto decay = [&](const Tensor<S> *gate, int64_t t, int64_t h, int64_t i) {
    return gate ? std::exp(-softplus(-(*gate)(t, h, i)) / temperature) : S(1);
  };
  Tensor<S> y(v.getShape());
  Tensor<S> state = frame[op.getState()];
  int64_t heads = v.getDim(1), keys = q.getDim(2), values = v.getDim(2);
  for (int64_t t = 0; t < v.getDim(0); ++t)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < values; ++i) {
        S ofValue = decay(valueGate, t, h, i), read = 0;
        for (int64_t j = 0; j < keys; ++j) {
          state(h, j, i) = decay(keyGate, t, h, j) * ofValue * state(h, j, i) +
                           k(t, h, j) * v(t, h, i);
          read += q(t, h, j) * state(h, j, i);
        }
        y(t, h, i) = scale * read;
      }
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextState(), std::move(state));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(GatedLinearAttentionOp)
