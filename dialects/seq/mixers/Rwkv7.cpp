// seq.rwkv7. The seventh RWKV.
// state before it.
#include "dialects/seq/Seq.h"
#include "dialects/seq/mixers/LinearMixer.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/seq/reference/Functions.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

//===- what passes know of it ---------------------------------------------===//

StructureAttr Rwkv7Op::getStructure() {
  LinearStructure structure;
  structure.decay = DecayAxis::Key;
  structure.lowRank = LowRankPair::UndecayedState;
  return structure.get(getContext());
}

CanonicalQuantities Rwkv7Op::buildTokenMap(OpBuilder &builder, Location loc,
                                           ValueRange tokens,
                                           ValueRange parameters) {
  MapBuilder m(builder, loc);
  CanonicalQuantities quantities;
  quantities.query = tokens[0];
  quantities.key = tokens[2];
  quantities.value = tokens[3];
  quantities.logDecay = m.scaled(m.sigmoid(tokens[1]), -std::exp(-0.5));
  quantities.probe = m.neg(tokens[4]);
  quantities.erase = m.mul(tokens[4], tokens[5]);
  return quantities;
}

//===- meaning ------------------------------------------------------------===//

template <typename S> static llvm::Error evaluate(Rwkv7Op op, Frame<S> &frame) {
  const Tensor<S> &r = frame[op.getR()], &w = frame[op.getW()];
  const Tensor<S> &k = frame[op.getK()], &v = frame[op.getV()];
  const Tensor<S> &kk = frame[op.getKk()], &a = frame[op.getA()];
  if (llvm::Error error = expectSameRows("r", r, "w", w))
    return error;
  if (llvm::Error error = expectSameRows("r", r, "k", k))
    return error;
  if (llvm::Error error = expectSameRows("r", r, "v", v))
    return error;
  if (llvm::Error error = expectSameRows("r", r, "kk", kk))
    return error;
  if (llvm::Error error = expectSameRows("r", r, "a", a))
    return error;
  Tensor<S> y(v.getShape());
  Tensor<S> state = frame[op.getState()];
  int64_t keys = k.getDim(2);
  for (int64_t t = 0; t < v.getDim(0); ++t)
    for (int64_t h = 0; h < v.getDim(1); ++h)
      for (int64_t i = 0; i < v.getDim(2); ++i) {
        S probed = 0;
        for (int64_t j = 0; j < keys; ++j)
          probed -= kk(t, h, j) * state(h, j, i);
        for (int64_t j = 0; j < keys; ++j) {
          S decay = std::exp(-std::exp(S(-0.5)) * sigmoid(w(t, h, j)));
          state(h, j, i) = decay * state(h, j, i) +
                           kk(t, h, j) * a(t, h, j) * probed +
                           k(t, h, j) * v(t, h, i);
          y(t, h, i) += r(t, h, j) * state(h, j, i);
        }
      }
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextState(), std::move(state));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(Rwkv7Op)
