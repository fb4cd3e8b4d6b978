// seq.normalised_rotary. Turned keys over a denominator of unturned ones.
#include "dialects/seq/Seq.h"
#include "dialects/seq/mixers/LinearMixer.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/seq/reference/Functions.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

//===- verifier -----------------------------------------------------------===//

LogicalResult NormalisedRotaryOp::verifyRules() {
  return expectPositive(*this, "eps", getEpsAttr());
}

//===- what passes know of it ---------------------------------------------===//

StructureAttr NormalisedRotaryOp::getStructure() {
  LinearStructure structure;
  structure.decay = DecayAxis::Head;
  structure.normaliser = Normaliser::KeySum;
  structure.headsPerGroup =
      getV().getType().getDimSize(1) / getQ().getType().getDimSize(1);
  return structure.get(getContext());
}

CanonicalQuantities NormalisedRotaryOp::buildTokenMap(OpBuilder &builder,
                                                      Location loc,
                                                      ValueRange tokens,
                                                      ValueRange parameters) {
  MapBuilder m(builder, loc);
  Value dt = tokens[5];
  Value step = m.softplus(m.add(dt, m.spread(parameters[1], dt)));
  CanonicalQuantities quantities;
  quantities.query = tokens[0];
  quantities.key = tokens[1];
  quantities.sumQuery = tokens[2];
  quantities.sumKey = tokens[3];
  quantities.value = tokens[4];
  quantities.logDecay =
      m.product(m.neg(m.exp(parameters[0])), "h", step, "th", "th");
  return quantities;
}

Value NormalisedRotaryOp::buildReadOut(OpBuilder &builder, Location loc,
                                       const LinearReading &reading,
                                       const CanonicalQuantities &quantities) {
  MapBuilder m(builder, loc);
  Value size = m.add(reading.denominator, m.constant(getEps().convertToDouble(),
                                                     reading.denominator));
  Value wide =
      m.create<BroadcastOp>(size, reading.read, ArrayRef<int64_t>{0, 1});
  return m.create<DivOp>(reading.read, wide);
}

//===- meaning ------------------------------------------------------------===//

template <typename S>
static llvm::Error evaluate(NormalisedRotaryOp op, Frame<S> &frame) {
  const Tensor<S> &turnedQ = frame[op.getTurnedQ()];
  const Tensor<S> &turnedK = frame[op.getTurnedK()];
  const Tensor<S> &q = frame[op.getQ()], &k = frame[op.getK()];
  const Tensor<S> &v = frame[op.getV()], &dt = frame[op.getDt()];
  const Tensor<S> &aLog = frame[op.getALog()], &bias = frame[op.getDtBias()];
  for (auto [name, tensor] : {std::pair("turned_k", &turnedK),
                              {"q", &q},
                              {"k", &k},
                              {"v", &v},
                              {"dt", &dt}})
    if (llvm::Error error = expectSameRows("turned_q", turnedQ, name, *tensor))
      return error;
  Tensor<S> y(v.getShape());
  Tensor<S> state = frame[op.getState()], sum = frame[op.getSum()];
  int64_t heads = v.getDim(1), keys = q.getDim(2), values = v.getDim(2);
  S eps = op.getEps().convertToDouble();
  for (int64_t t = 0; t < v.getDim(0); ++t)
    for (int64_t h = 0; h < heads; ++h) {
      int64_t g = h / (heads / q.getDim(1));
      S decay = std::exp(-std::exp(aLog(h)) * softplus(dt(t, h) + bias(h)));
      S size = eps;
      for (int64_t j = 0; j < keys; ++j) {
        sum(h, j) = decay * sum(h, j) + k(t, g, j);
        size += q(t, g, j) * sum(h, j);
      }
      for (int64_t i = 0; i < values; ++i) {
        S read = 0;
        for (int64_t j = 0; j < keys; ++j) {
          state(h, j, i) =
              decay * state(h, j, i) + turnedK(t, g, j) * v(t, h, i);
          read += turnedQ(t, g, j) * state(h, j, i);
        }
        y(t, h, i) = read / size;
      }
    }
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextState(), std::move(state));
  frame.set(op.getNextSum(), std::move(sum));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(NormalisedRotaryOp)
