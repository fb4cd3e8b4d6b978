// seq.rwkv6. The sixth RWKV.
#include "dialects/seq/Seq.h"
#include "dialects/seq/mixers/LinearMixer.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/seq/reference/Functions.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

//===- what passes know of it ---------------------------------------------===//

StructureAttr Rwkv6Op::getStructure() {
  LinearStructure structure;
  structure.decay = DecayAxis::Key;
  structure.read = ReadOrder::BeforeWrite;
  structure.bonus = true;
  return structure.get(getContext());
}

CanonicalQuantities Rwkv6Op::buildTokenMap(OpBuilder &builder, Location loc,
                                           ValueRange tokens,
                                           ValueRange parameters) {
  MapBuilder m(builder, loc);
  CanonicalQuantities quantities;
  quantities.query = tokens[0];
  quantities.key = tokens[1];
  quantities.value = tokens[2];
  quantities.logDecay = m.neg(m.exp(tokens[3]));
  quantities.bonusKey = m.product(parameters[0], "hk", tokens[1], "thk", "thk");
  return quantities;
}

//===- meaning ------------------------------------------------------------===//

template <typename S> static llvm::Error evaluate(Rwkv6Op op, Frame<S> &frame) {
  const Tensor<S> &r = frame[op.getR()];
  const Tensor<S> &k = frame[op.getK()];
  const Tensor<S> &v = frame[op.getV()];
  const Tensor<S> &w = frame[op.getW()];
  const Tensor<S> &u = frame[op.getU()];
  if (llvm::Error error = expectSameRows("r", r, "k", k))
    return error;
  if (llvm::Error error = expectSameRows("r", r, "v", v))
    return error;
  if (llvm::Error error = expectSameRows("r", r, "w", w))
    return error;
  Tensor<S> y(v.getShape());
  Tensor<S> state = frame[op.getState()];
  for (int64_t t = 0; t < v.getDim(0); ++t)
    for (int64_t h = 0; h < v.getDim(1); ++h)
      for (int64_t j = 0; j < k.getDim(2); ++j)
        for (int64_t i = 0; i < v.getDim(2); ++i) {
          S written = k(t, h, j) * v(t, h, i);
          y(t, h, i) += r(t, h, j) * (state(h, j, i) + u(h, j) * written);
          state(h, j, i) =
              std::exp(-std::exp(w(t, h, j))) * state(h, j, i) + written;
        }
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextState(), std::move(state));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(Rwkv6Op)
