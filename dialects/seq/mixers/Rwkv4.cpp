// seq.rwkv4. The fourth RWKV.
#include "dialects/seq/Seq.h"
#include "dialects/seq/mixers/LinearMixer.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/seq/reference/Functions.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

//===- what passes know of it ---------------------------------------------===//

StructureAttr Rwkv4Op::getStructure() {
  LinearStructure structure;
  structure.decay = DecayAxis::Value;
  structure.inputGate = InputGate::Value;
  structure.read = ReadOrder::BeforeWrite;
  structure.normaliser = Normaliser::KeySum;
  structure.stabiliser = Stabiliser::MaxPlus;
  return structure.get(getContext());
}

CanonicalQuantities Rwkv4Op::buildTokenMap(OpBuilder &builder, Location loc,
                                           ValueRange tokens,
                                           ValueRange parameters) {
  MapBuilder m(builder, loc);
  Value k = tokens[0], v = tokens[1];
  CanonicalQuantities quantities;
  quantities.query = quantities.key = ConstantOp::create(
      builder, loc, 1.0, {getV().getType().getDimSize(1), 1});
  quantities.value = v;
  quantities.valueLogDecay = m.spread(parameters[0], k);
  quantities.logGate = k;
  // The token's own weight and its value, before gates.
  quantities.forReadOut = {m.add(m.spread(parameters[1], k), k), v};
  return quantities;
}

Value Rwkv4Op::buildReadOut(OpBuilder &builder, Location loc,
                            const LinearReading &reading,
                            const CanonicalQuantities &quantities) {
  MapBuilder m(builder, loc);
  Value own = quantities.forReadOut[0], v = quantities.forReadOut[1];
  Value most = m.create<MaxOp>(reading.maximum, own);
  Value past = m.exp(m.create<SubOp>(reading.maximum, most));
  Value now = m.exp(m.create<SubOp>(own, most));
  Value above = m.add(m.mul(past, reading.read), m.mul(now, v));
  Value below = m.add(m.mul(past, reading.denominator), now);
  return m.create<DivOp>(above, below);
}

//===- meaning ------------------------------------------------------------===//

template <typename S> static llvm::Error evaluate(Rwkv4Op op, Frame<S> &frame) {
  const Tensor<S> &k = frame[op.getK()], &v = frame[op.getV()];
  const Tensor<S> &w = frame[op.getW()], &u = frame[op.getU()];
  if (llvm::Error error = expectSameRows("k", k, "v", v))
    return error;
  Tensor<S> y(v.getShape());
  Tensor<S> state = frame[op.getState()], sum = frame[op.getSum()];
  Tensor<S> maximum = frame[op.getMaximum()];
  for (int64_t t = 0; t < v.getDim(0); ++t)
    for (int64_t h = 0; h < v.getDim(1); ++h)
      for (int64_t i = 0; i < v.getDim(2); ++i) {
        S &a = state(h, 0, i), &b = sum(h, 0, i), &p = maximum(h, i);
        S m = larger(p, u(h, i) + k(t, h, i));
        S past = std::exp(p - m), own = std::exp(u(h, i) + k(t, h, i) - m);
        y(t, h, i) = (past * a + own * v(t, h, i)) / (past * b + own);
        m = larger(p + w(h, i), k(t, h, i));
        S keep = std::exp(p + w(h, i) - m), take = std::exp(k(t, h, i) - m);
        a = keep * a + take * v(t, h, i);
        b = keep * b + take;
        p = m;
      }
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextState(), std::move(state));
  frame.set(op.getNextSum(), std::move(sum));
  frame.set(op.getNextMaximum(), std::move(maximum));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(Rwkv4Op)
