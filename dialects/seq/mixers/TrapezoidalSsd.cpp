// seq.trapezoidal_ssd. Mamba-3's recurrence.
#include "dialects/seq/Seq.h"
#include "dialects/seq/mixers/LinearMixer.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/seq/reference/Functions.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

//===- what passes know of it ---------------------------------------------===//

StructureAttr TrapezoidalSsdOp::getStructure() {
  LinearStructure structure;
  structure.decay = DecayAxis::Head;
  structure.inputGate = InputGate::Value;
  structure.feedThrough = true;
  return structure.get(getContext());
}

CanonicalQuantities TrapezoidalSsdOp::buildTokenMap(OpBuilder &builder,
                                                    Location loc,
                                                    ValueRange tokens,
                                                    ValueRange parameters) {
  MapBuilder m(builder, loc);
  Value x = tokens[0], dt = tokens[1], rate = tokens[2], share = tokens[3];
  Value b = tokens[4], c = tokens[5], xBefore = tokens[6], bBefore = tokens[7];
  Value writtenBefore = tokens[8], d = parameters[0];

  CanonicalQuantities quantities;
  quantities.query = c;
  quantities.key = bBefore;
  quantities.logDecay = m.neg(m.mul(rate, dt));
  // 1 - sigmoid(s) = sigmoid(-s)
  Value weight = m.add(writtenBefore, m.mul(m.sigmoid(m.neg(share)), dt));
  // It decays by this token's step too.
  quantities.value = m.product(m.mul(m.exp(quantities.logDecay), weight), "th",
                               xBefore, "thv", "thv");
  // What the token reads of itself.
  Value own =
      m.mul(m.product(c, "thk", b, "thk", "th"), m.mul(m.sigmoid(share), dt));
  quantities.forReadOut = {
      m.product(m.add(own, m.spread(d, own)), "th", x, "thv", "thv")};
  return quantities;
}

Value TrapezoidalSsdOp::buildReadOut(OpBuilder &builder, Location loc,
                                     const LinearReading &reading,
                                     const CanonicalQuantities &quantities) {
  return AddOp::create(builder, loc, reading.read, quantities.forReadOut[0]);
}

//===- meaning ------------------------------------------------------------===//

template <typename S>
static llvm::Error evaluate(TrapezoidalSsdOp op, Frame<S> &frame) {
  const Tensor<S> &x = frame[op.getX()], &dt = frame[op.getDt()];
  const Tensor<S> &rate = frame[op.getRate()], &share = frame[op.getShare()];
  const Tensor<S> &b = frame[op.getB()], &c = frame[op.getC()];
  const Tensor<S> &xBefore = frame[op.getXBefore()];
  const Tensor<S> &bBefore = frame[op.getBBefore()];
  const Tensor<S> &writtenBefore = frame[op.getWrittenBefore()];
  const Tensor<S> &d = frame[op.getD()];
  std::pair<const char *, const Tensor<S> *> others[] = {
      {"dt", &dt},
      {"rate", &rate},
      {"share", &share},
      {"b", &b},
      {"c", &c},
      {"x_before", &xBefore},
      {"b_before", &bBefore},
      {"written_before", &writtenBefore}};
  for (auto [name, other] : others)
    if (llvm::Error error = expectSameRows("x", x, name, *other))
      return error;
  Tensor<S> y(x.getShape());
  Tensor<S> state = frame[op.getState()];
  int64_t heads = x.getDim(1), values = x.getDim(2), keys = b.getDim(2);
  for (int64_t t = 0; t < x.getDim(0); ++t)
    for (int64_t h = 0; h < heads; ++h) {
      S own = 1 / (1 + std::exp(-share(t, h)));
      S written = own * dt(t, h);
      S weight = writtenBefore(t, h) + (1 - own) * dt(t, h);
      S decay = std::exp(-rate(t, h) * dt(t, h));
      for (int64_t i = 0; i < values; ++i) {
        S read = 0;
        for (int64_t j = 0; j < keys; ++j) {
          S &kept = state(h, j, i);
          kept = decay * (kept + weight * bBefore(t, h, j) * xBefore(t, h, i));
          read += c(t, h, j) * (kept + written * b(t, h, j) * x(t, h, i));
        }
        y(t, h, i) = read + d(h) * x(t, h, i);
      }
    }
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextState(), std::move(state));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(TrapezoidalSsdOp)
