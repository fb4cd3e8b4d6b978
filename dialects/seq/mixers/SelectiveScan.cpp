// seq.selective_scan. The selective scan of the first Mamba.
// itself.
#include "dialects/seq/Seq.h"
#include "dialects/seq/mixers/LinearMixer.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/seq/reference/Functions.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

//===- what passes know of it ---------------------------------------------===//

StructureAttr SelectiveScanOp::getStructure() {
  LinearStructure structure;
  structure.decay = DecayAxis::Element;
  structure.inputGate = InputGate::Value;
  structure.feedThrough = true;
  structure.headsPerGroup =
      getX().getType().getDimSize(1) / getB().getType().getDimSize(1);
  return structure.get(getContext());
}

CanonicalQuantities SelectiveScanOp::buildTokenMap(OpBuilder &builder,
                                                   Location loc,
                                                   ValueRange tokens,
                                                   ValueRange parameters) {
  MapBuilder m(builder, loc);
  Value x = tokens[0];
  Value step = m.softplus(m.add(tokens[1], m.spread(parameters[1], x)));
  CanonicalQuantities quantities;
  quantities.query = tokens[3];
  quantities.key = tokens[2];
  quantities.value = m.mul(step, x);
  quantities.logDecay =
      m.product(m.neg(m.exp(parameters[0])), "hkv", step, "thv", "thkv");
  quantities.forReadOut = {m.product(parameters[2], "hv", x, "thv", "thv")};
  return quantities;
}

Value SelectiveScanOp::buildReadOut(OpBuilder &builder, Location loc,
                                    const LinearReading &reading,
                                    const CanonicalQuantities &quantities) {
  return AddOp::create(builder, loc, reading.read, quantities.forReadOut[0]);
}

//===- meaning ------------------------------------------------------------===//

template <typename S>
static llvm::Error evaluate(SelectiveScanOp op, Frame<S> &frame) {
  const Tensor<S> &x = frame[op.getX()], &dt = frame[op.getDt()];
  const Tensor<S> &b = frame[op.getB()], &c = frame[op.getC()];
  const Tensor<S> &aLog = frame[op.getALog()];
  const Tensor<S> &bias = frame[op.getDtBias()], &d = frame[op.getD()];
  if (llvm::Error error = expectSameRows("x", x, "dt", dt))
    return error;
  if (llvm::Error error = expectSameRows("x", x, "b", b))
    return error;
  if (llvm::Error error = expectSameRows("x", x, "c", c))
    return error;
  Tensor<S> y(x.getShape());
  Tensor<S> state = frame[op.getState()];
  int64_t headsPerGroup = x.getDim(1) / b.getDim(1);
  for (int64_t t = 0; t < x.getDim(0); ++t)
    for (int64_t h = 0; h < x.getDim(1); ++h)
      for (int64_t i = 0; i < x.getDim(2); ++i) {
        int64_t g = h / headsPerGroup;
        S step = softplus(dt(t, h, i) + bias(h, i));
        S read = 0;
        for (int64_t j = 0; j < b.getDim(2); ++j) {
          state(h, j, i) =
              std::exp(-std::exp(aLog(h, j, i)) * step) * state(h, j, i) +
              b(t, g, j) * step * x(t, h, i);
          read += c(t, g, j) * state(h, j, i);
        }
        y(t, h, i) = read + d(h, i) * x(t, h, i);
      }
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextState(), std::move(state));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(SelectiveScanOp)
