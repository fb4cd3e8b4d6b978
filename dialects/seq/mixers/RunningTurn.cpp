// seq.running_turn. The turn by a running angle.
#include "dialects/seq/Seq.h"
#include "dialects/seq/mixers/LinearMixer.h"
#include "dialects/seq/reference/Frame.h"

#include <cmath>
#include <complex>

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

//===- verifier -----------------------------------------------------------===//

// RUNNING_TURN5.
LogicalResult RunningTurnOp::verifyRules() {
  if (!getPhase().isFinite())
    return emitOpError() << "expects 'phase' to be finite, but got "
                         << getPhaseAttr();
  return success();
}

//===- what passes know of it ---------------------------------------------===//

StructureAttr RunningTurnOp::getStructure() {
  LinearStructure structure;
  structure.decay = DecayAxis::Element;
  structure.field = DecayField::Complex;
  return structure.get(getContext());
}

CanonicalQuantities RunningTurnOp::buildTokenMap(OpBuilder &builder,
                                                 Location loc,
                                                 ValueRange tokens,
                                                 ValueRange parameters) {
  MapBuilder m(builder, loc);
  Value angle = tokens[0];
  Value ones =
      ConstantOp::create(builder, loc, 1.0, getState().getType().getShape());
  auto inState = [&](Value perToken) {
    return m.product(perToken, "thv", ones, "hkv", "thkv");
  };
  CanonicalQuantities quantities;
  quantities.turn = inState(m.cos(angle));
  quantities.turnImaginary = inState(m.sin(angle));
  // Nothing decays, and nothing is written: a key of 0 takes whatever value.
  Value like = quantities.turn, nothing = m.constant(0, like);
  quantities.logDecay = nothing;
  quantities.key = nothing;
  quantities.keyImaginary = nothing;
  quantities.value = angle;
  double phase = getPhase().convertToDouble();
  quantities.query = m.constant(std::cos(phase), like);
  quantities.queryImaginary = m.constant(std::sin(phase), like);
  return quantities;
}

//===- meaning ------------------------------------------------------------===//

template <typename S>
static llvm::Error evaluate(RunningTurnOp op, Frame<S> &frame) {
  const Tensor<S> &angle = frame[op.getAngle()];
  Tensor<S> real = frame[op.getState()];
  Tensor<S> imaginary = frame[op.getStateImaginary()];
  Tensor<S> y(angle.getShape());
  S phase = S(op.getPhase().convertToDouble());
  std::complex<S> shift(std::cos(phase), std::sin(phase));
  for (int64_t t = 0; t < angle.getDim(0); ++t)
    for (int64_t h = 0; h < angle.getDim(1); ++h)
      for (int64_t v = 0; v < angle.getDim(2); ++v) {
        std::complex<S> state(real(h, 0, v), imaginary(h, 0, v));
        S turn = angle(t, h, v);
        state *= std::complex<S>(std::cos(turn), std::sin(turn));
        real(h, 0, v) = state.real();
        imaginary(h, 0, v) = state.imag();
        y(t, h, v) = (shift * state).real();
      }
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextState(), std::move(real));
  frame.set(op.getNextStateImaginary(), std::move(imaginary));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(RunningTurnOp)
