// seq.hgrn. The first HGRN.
#include "dialects/seq/Seq.h"
#include "dialects/seq/mixers/LinearMixer.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/seq/reference/Functions.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

//===- what passes know of it ---------------------------------------------===//

StructureAttr HgrnOp::getStructure() {
  LinearStructure structure;
  structure.decay = DecayAxis::Value;
  structure.inputGate = InputGate::Value;
  return structure.get(getContext());
}

CanonicalQuantities HgrnOp::buildTokenMap(OpBuilder &builder, Location loc,
                                          ValueRange tokens,
                                          ValueRange parameters) {
  MapBuilder m(builder, loc);
  Value x = tokens[0], forget = tokens[1];
  Value bound = m.spread(parameters[0], forget);
  Value room = m.create<SubOp>(m.constant(1, forget), bound);
  CanonicalQuantities quantities;
  quantities.query = quantities.key = ConstantOp::create(
      builder, loc, 1.0, {getX().getType().getDimSize(1), 1});
  quantities.value = m.mul(m.mul(room, m.sigmoid(m.neg(forget))), x);
  quantities.valueLogDecay =
      m.create<LogOp>(m.add(bound, m.mul(room, m.sigmoid(forget))));
  return quantities;
}

//===- meaning ------------------------------------------------------------===//

template <typename S> static llvm::Error evaluate(HgrnOp op, Frame<S> &frame) {
  const Tensor<S> &x = frame[op.getX()], &forget = frame[op.getForget()];
  const Tensor<S> &bound = frame[op.getLowerBound()];
  if (llvm::Error error = expectSameRows("x", x, "forget", forget))
    return error;
  Tensor<S> y(x.getShape());
  Tensor<S> state = frame[op.getState()];
  for (int64_t t = 0; t < x.getDim(0); ++t)
    for (int64_t h = 0; h < x.getDim(1); ++h)
      for (int64_t i = 0; i < x.getDim(2); ++i) {
        S room = 1 - bound(h, i);
        S keep = bound(h, i) + room * sigmoid(forget(t, h, i));
        S take = room * sigmoid(-forget(t, h, i));
        state(h, 0, i) = keep * state(h, 0, i) + take * x(t, h, i);
        y(t, h, i) = state(h, 0, i);
      }
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextState(), std::move(state));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(HgrnOp)
