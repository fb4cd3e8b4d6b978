// seq.rodimus. Rodimus with data-dependent tempered selection.
#include "dialects/seq/Seq.h"
#include "dialects/seq/mixers/LinearMixer.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/seq/reference/Functions.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

// The least selection of which a power is taken: softplus may round to 0.
static constexpr double kLeastSelection = 1e-38;

//===- what passes know of it ---------------------------------------------===//

StructureAttr RodimusOp::getStructure() {
  LinearStructure structure;
  structure.decay = DecayAxis::Key;
  structure.inputGate = InputGate::Key;
  structure.feedThrough = true;
  return structure.get(getContext());
}

CanonicalQuantities RodimusOp::buildTokenMap(OpBuilder &builder, Location loc,
                                             ValueRange tokens,
                                             ValueRange parameters) {
  MapBuilder m(builder, loc);
  Value select = m.softplus(tokens[3]), temper = m.sigmoid(tokens[4]);
  Value floor = m.constant(kLeastSelection, select);
  Value logSelect = m.create<LogOp>(m.create<MaxOp>(select, floor));
  CanonicalQuantities quantities;
  quantities.query = m.scaled(tokens[0], getScale().convertToDouble());
  quantities.key = m.mul(tokens[1], m.exp(m.mul(temper, logSelect)));
  quantities.value = tokens[2];
  quantities.logDecay = m.neg(m.mul(select, temper));
  quantities.forReadOut = {
      m.product(parameters[0], "hv", tokens[5], "thv", "thv")};
  return quantities;
}

Value RodimusOp::buildReadOut(OpBuilder &builder, Location loc,
                              const LinearReading &reading,
                              const CanonicalQuantities &quantities) {
  return AddOp::create(builder, loc, reading.read, quantities.forReadOut[0]);
}

//===- meaning ------------------------------------------------------------===//

template <typename S>
static llvm::Error evaluate(RodimusOp op, Frame<S> &frame) {
  const Tensor<S> &q = frame[op.getQ()];
  const Tensor<S> &k = frame[op.getK()];
  const Tensor<S> &v = frame[op.getV()];
  const Tensor<S> &select = frame[op.getSelect()];
  const Tensor<S> &temper = frame[op.getTemper()];
  const Tensor<S> &x = frame[op.getX()];
  const Tensor<S> &d = frame[op.getD()];
  if (llvm::Error error = expectSameRows("q", q, "k", k))
    return error;
  if (llvm::Error error = expectSameRows("q", q, "v", v))
    return error;
  if (llvm::Error error = expectSameRows("q", q, "select", select))
    return error;
  if (llvm::Error error = expectSameRows("q", q, "temper", temper))
    return error;
  if (llvm::Error error = expectSameRows("q", q, "x", x))
    return error;
  S scale = op.getScale().convertToDouble();
  Tensor<S> y(v.getShape());
  Tensor<S> state = frame[op.getState()];
  int64_t heads = v.getDim(1), keys = q.getDim(2), values = v.getDim(2);
  for (int64_t t = 0; t < v.getDim(0); ++t)
    for (int64_t h = 0; h < heads; ++h) {
      for (int64_t j = 0; j < keys; ++j) {
        S g = softplus(select(t, h, j)), r = sigmoid(temper(t, h, j));
        S key = std::pow(larger(g, S(kLeastSelection)), r) * k(t, h, j);
        for (int64_t i = 0; i < values; ++i)
          state(h, j, i) = std::exp(-g * r) * state(h, j, i) + key * v(t, h, i);
      }
      for (int64_t i = 0; i < values; ++i) {
        S read = 0;
        for (int64_t j = 0; j < keys; ++j)
          read += q(t, h, j) * state(h, j, i);
        y(t, h, i) = scale * read + d(h, i) * x(t, h, i);
      }
    }
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextState(), std::move(state));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(RodimusOp)
