// seq.gated_delta_rule_2. The gated delta rule with gates of its own for what it
// erases and writes.
#include "dialects/seq/Seq.h"
#include "dialects/seq/mixers/LinearMixer.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/seq/reference/Functions.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

//===- what passes know of it ---------------------------------------------===//

StructureAttr GatedDeltaRule2Op::getStructure() {
  LinearStructure structure;
  structure.decay = DecayAxis::Key;
  structure.inputGate = InputGate::Value;
  structure.lowRank = LowRankPair::DecayedState;
  structure.headsPerGroup =
      getV().getType().getDimSize(1) / getQ().getType().getDimSize(1);
  return structure.get(getContext());
}

CanonicalQuantities GatedDeltaRule2Op::buildTokenMap(OpBuilder &builder,
                                                     Location loc,
                                                     ValueRange tokens,
                                                     ValueRange parameters) {
  MapBuilder m(builder, loc);
  CanonicalQuantities quantities;
  quantities.query = m.scaled(tokens[0], getScale().convertToDouble());
  quantities.key = tokens[1];
  quantities.value = m.mul(tokens[4], tokens[2]);
  quantities.probe = m.mul(tokens[3], tokens[1]);
  quantities.eraseScale =
      ConstantOp::create(builder, loc, -1.0, {getV().getType().getDimSize(1)});
  Value step = m.softplus(m.add(tokens[5], m.spread(parameters[1], tokens[5])));
  quantities.logDecay =
      m.product(m.neg(m.exp(parameters[0])), "h", step, "thk", "thk");
  return quantities;
}

//===- meaning ------------------------------------------------------------===//

template <typename S>
static llvm::Error evaluate(GatedDeltaRule2Op op, Frame<S> &frame) {
  const Tensor<S> &q = frame[op.getQ()], &k = frame[op.getK()];
  const Tensor<S> &v = frame[op.getV()], &f = frame[op.getF()];
  const Tensor<S> &erase = frame[op.getErase()];
  const Tensor<S> &write = frame[op.getWrite()];
  const Tensor<S> &aLog = frame[op.getALog()];
  const Tensor<S> &bias = frame[op.getDtBias()];
  if (llvm::Error error = expectSameRows("q", q, "k", k))
    return error;
  if (llvm::Error error = expectSameRows("q", q, "v", v))
    return error;
  if (llvm::Error error = expectSameRows("q", q, "erase", erase))
    return error;
  if (llvm::Error error = expectSameRows("q", q, "write", write))
    return error;
  if (llvm::Error error = expectSameRows("q", q, "f", f))
    return error;
  S scale = op.getScale().convertToDouble();
  Tensor<S> y(v.getShape());
  Tensor<S> state = frame[op.getState()];
  int64_t heads = v.getDim(1), keys = q.getDim(2), values = v.getDim(2);
  int64_t headsPerGroup = heads / q.getDim(1);
  for (int64_t t = 0; t < v.getDim(0); ++t)
    for (int64_t h = 0; h < heads; ++h) {
      int64_t g = h / headsPerGroup;
      for (int64_t j = 0; j < keys; ++j) {
        S decay =
            std::exp(-std::exp(aLog(h)) * softplus(f(t, h, j) + bias(h, j)));
        for (int64_t i = 0; i < values; ++i)
          state(h, j, i) *= decay;
      }
      for (int64_t i = 0; i < values; ++i) {
        S change = write(t, h, i) * v(t, h, i);
        for (int64_t j = 0; j < keys; ++j)
          change -= erase(t, g, j) * k(t, g, j) * state(h, j, i);
        S read = 0;
        for (int64_t j = 0; j < keys; ++j) {
          state(h, j, i) += k(t, g, j) * change;
          read += q(t, g, j) * state(h, j, i);
        }
        y(t, h, i) = scale * read;
      }
    }
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextState(), std::move(state));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(GatedDeltaRule2Op)
