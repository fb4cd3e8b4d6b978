// seq.hgrn2. HGRN2.
#include "dialects/seq/Seq.h"
#include "dialects/seq/mixers/LinearMixer.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/seq/reference/Functions.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

//===- what passes know of it ---------------------------------------------===//

StructureAttr Hgrn2Op::getStructure() {
  LinearStructure structure;
  structure.decay = DecayAxis::Key;
  structure.inputGate = InputGate::Key;
  return structure.get(getContext());
}

CanonicalQuantities Hgrn2Op::buildTokenMap(OpBuilder &builder, Location loc,
                                           ValueRange tokens,
                                           ValueRange parameters) {
  MapBuilder m(builder, loc);
  Value forget = tokens[1];
  Value bound = m.spread(parameters[0], forget);
  Value room = m.create<SubOp>(m.constant(1, forget), bound);
  CanonicalQuantities quantities;
  quantities.query = m.scaled(tokens[0], getScale().convertToDouble());
  quantities.key = m.mul(room, m.sigmoid(m.neg(forget)));
  quantities.value = tokens[2];
  quantities.logDecay =
      m.create<LogOp>(m.add(bound, m.mul(room, m.sigmoid(forget))));
  return quantities;
}

//===- meaning ------------------------------------------------------------===//

template <typename S> static llvm::Error evaluate(Hgrn2Op op, Frame<S> &frame) {
  const Tensor<S> &q = frame[op.getQ()];
  const Tensor<S> &forget = frame[op.getForget()];
  const Tensor<S> &v = frame[op.getV()];
  const Tensor<S> &bound = frame[op.getLowerBound()];
  if (llvm::Error error = expectSameRows("q", q, "forget", forget))
    return error;
  if (llvm::Error error = expectSameRows("q", q, "v", v))
    return error;
  S scale = op.getScale().convertToDouble();
  Tensor<S> y(v.getShape());
  Tensor<S> state = frame[op.getState()];
  int64_t heads = v.getDim(1), keys = q.getDim(2), values = v.getDim(2);
  for (int64_t t = 0; t < v.getDim(0); ++t)
    for (int64_t h = 0; h < heads; ++h) {
      for (int64_t j = 0; j < keys; ++j) {
        S room = 1 - bound(h, j);
        S keep = bound(h, j) + room * sigmoid(forget(t, h, j));
        S take = room * sigmoid(-forget(t, h, j));
        for (int64_t i = 0; i < values; ++i)
          state(h, j, i) = keep * state(h, j, i) + take * v(t, h, i);
      }
      for (int64_t i = 0; i < values; ++i) {
        S read = 0;
        for (int64_t j = 0; j < keys; ++j)
          read += q(t, h, j) * state(h, j, i);
        y(t, h, i) = scale * read;
      }
    }
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextState(), std::move(state));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(Hgrn2Op)
