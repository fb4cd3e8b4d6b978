// seq.rg_lru. The real-gated linear recurrent unit of Hawk and Griffin.
#include "dialects/seq/Seq.h"
#include "dialects/seq/mixers/LinearMixer.h"
#include "dialects/seq/reference/Frame.h"
#include "dialects/seq/reference/Functions.h"

#include <cmath>

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

//===- verifier -----------------------------------------------------------===//

LogicalResult RgLruOp::verifyRules() {
  return expectPositive(*this, "exponent", getExponentAttr());
}

//===- what passes know of it ---------------------------------------------===//

StructureAttr RgLruOp::getStructure() {
  LinearStructure structure;
  structure.decay = DecayAxis::Value;
  structure.inputGate = InputGate::Value;
  return structure.get(getContext());
}

CanonicalQuantities RgLruOp::buildTokenMap(OpBuilder &builder, Location loc,
                                           ValueRange tokens,
                                           ValueRange parameters) {
  MapBuilder m(builder, loc);
  Value x = tokens[0];
  Value rate =
      m.scaled(m.softplus(parameters[0]), -getExponent().convertToDouble());
  Value gated = m.product(rate, "hv", m.sigmoid(tokens[1]), "thv", "thv");
  // A finite log-decay whose exponential is 0, alone and in any sum.
  Value forget = m.scaled(m.atStart(tokens[3]), -1e30);
  Value logDecay =
      m.add(gated, m.create<BroadcastOp>(forget, x, ArrayRef<int64_t>{0}));
  // 1 at the start, and so is the multiplier.
  Value rest = m.neg(m.expMinusOne(m.scaled(logDecay, 2)));
  CanonicalQuantities quantities;
  quantities.query = quantities.key = ConstantOp::create(
      builder, loc, 1.0, {getX().getType().getDimSize(1), 1});
  quantities.value =
      m.mul(m.mul(m.create<SqrtOp>(rest), m.sigmoid(tokens[2])), x);
  quantities.valueLogDecay = logDecay;
  return quantities;
}

//===- meaning ------------------------------------------------------------===//

template <typename S> static llvm::Error evaluate(RgLruOp op, Frame<S> &frame) {
  const Tensor<S> &x = frame[op.getX()];
  const Tensor<S> &recurrence = frame[op.getRecurrence()];
  const Tensor<S> &input = frame[op.getInput()], &rate = frame[op.getRate()];
  const Tensor<int32_t> &positions = frame.getIndices(op.getPositions());
  if (llvm::Error error = expectSameRows("x", x, "recurrence", recurrence))
    return error;
  if (llvm::Error error = expectSameRows("x", x, "input", input))
    return error;
  if (llvm::Error error = expectSameRows("x", x, "positions", positions))
    return error;
  S exponent = op.getExponent().convertToDouble();
  Tensor<S> y(x.getShape());
  Tensor<S> state = frame[op.getState()];
  for (int64_t t = 0; t < x.getDim(0); ++t)
    for (int64_t h = 0; h < x.getDim(1); ++h)
      for (int64_t i = 0; i < x.getDim(2); ++i) {
        S taken = sigmoid(input(t, h, i)) * x(t, h, i);
        if (positions(t) == 0) {
          state(h, 0, i) = taken;
        } else {
          S logDecay =
              -exponent * sigmoid(recurrence(t, h, i)) * softplus(rate(h, i));
          state(h, 0, i) = std::exp(logDecay) * state(h, 0, i) +
                           std::sqrt(-std::expm1(2 * logDecay)) * taken;
        }
        y(t, h, i) = state(h, 0, i);
      }
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextState(), std::move(state));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(RgLruOp)
