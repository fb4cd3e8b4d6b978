// seq.s4d. The diagonal structured state space model, S4D.
#include "dialects/seq/Seq.h"
#include "dialects/seq/mixers/LinearMixer.h"
#include "dialects/seq/reference/Frame.h"

#include <cmath>
#include <complex>

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

//===- what passes know of it ---------------------------------------------===//

StructureAttr S4dOp::getStructure() {
  LinearStructure structure;
  structure.decay = DecayAxis::Element;
  structure.field = DecayField::Complex;
  structure.inputGate = InputGate::Key;
  structure.feedThrough = true;
  return structure.get(getContext());
}

CanonicalQuantities S4dOp::buildTokenMap(OpBuilder &builder, Location loc,
                                         ValueRange tokens,
                                         ValueRange parameters) {
  MapBuilder m(builder, loc);
  Value x = tokens[0], aImaginary = parameters[2];
  Value dt = m.exp(parameters[0]), a = m.neg(m.exp(parameters[1]));
  Value logDecay = m.product(dt, "hv", a, "hkv", "hkv");
  Value angle = m.product(dt, "hv", aImaginary, "hkv", "hkv");
  // decay - 1 = (e^x - 1) cos t - 2 sin(t/2)^2 + i e^x sin t
  Value turn = m.cos(angle), turnImaginary = m.sin(angle);
  Value half = m.sin(m.scaled(angle, 0.5));
  Value rise = m.create<SubOp>(m.mul(m.expMinusOne(logDecay), turn),
                               m.scaled(m.mul(half, half), 2));
  Value riseImaginary = m.mul(m.exp(logDecay), turnImaginary);
  // Over A: times its conjugate, over the square of its magnitude.
  Value square = m.add(m.mul(a, a), m.mul(aImaginary, aImaginary));
  Value b = m.create<DivOp>(
      m.add(m.mul(rise, a), m.mul(riseImaginary, aImaginary)), square);
  Value bImaginary = m.create<DivOp>(
      m.create<SubOp>(m.mul(riseImaginary, a), m.mul(rise, aImaginary)),
      square);

  // The same for every token: views of the parameters.
  ArrayRef<int64_t> shape = getState().getType().getShape();
  Value like = m.product(x, "thv", ConstantOp::create(builder, loc, 1.0, shape),
                         "hkv", "thkv");
  CanonicalQuantities quantities;
  quantities.query = m.spread(m.scaled(parameters[3], 2), like);
  quantities.queryImaginary = m.spread(m.scaled(parameters[4], 2), like);
  quantities.key = m.spread(b, like);
  quantities.keyImaginary = m.spread(bImaginary, like);
  quantities.value = x;
  quantities.logDecay = logDecay;
  quantities.turn = turn;
  quantities.turnImaginary = turnImaginary;
  quantities.forReadOut = {m.product(parameters[5], "hv", x, "thv", "thv")};
  return quantities;
}

Value S4dOp::buildReadOut(OpBuilder &builder, Location loc,
                          const LinearReading &reading,
                          const CanonicalQuantities &quantities) {
  return AddOp::create(builder, loc, reading.read, quantities.forReadOut[0]);
}

//===- meaning ------------------------------------------------------------===//

// e^z - 1
template <typename S>
static std::complex<S> expMinusOne(const std::complex<S> &z) {
  S half = std::sin(z.imag() / 2);
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * half * half,
          std::exp(z.real()) * std::sin(z.imag())};
}

template <typename S> static llvm::Error evaluate(S4dOp op, Frame<S> &frame) {
  using Complex = std::complex<S>;
  const Tensor<S> &x = frame[op.getX()], &logDt = frame[op.getLogDt()];
  const Tensor<S> &logA = frame[op.getLogA()], &d = frame[op.getD()];
  const Tensor<S> &aImaginary = frame[op.getAImaginary()];
  const Tensor<S> &c = frame[op.getC()], &cImag = frame[op.getCImaginary()];
  Tensor<S> y(x.getShape());
  Tensor<S> state = frame[op.getState()];
  Tensor<S> stateImaginary = frame[op.getStateImaginary()];
  for (int64_t h = 0; h < x.getDim(1); ++h)
    for (int64_t i = 0; i < x.getDim(2); ++i) {
      for (int64_t t = 0; t < x.getDim(0); ++t)
        y(t, h, i) = d(h, i) * x(t, h, i);
      for (int64_t k = 0; k < state.getDim(1); ++k) {
        Complex a(-std::exp(logA(h, k, i)), aImaginary(h, k, i));
        Complex exponent = std::exp(logDt(h, i)) * a;
        Complex decay = std::exp(exponent), b = expMinusOne(exponent) / a;
        Complex mode(state(h, k, i), stateImaginary(h, k, i));
        for (int64_t t = 0; t < x.getDim(0); ++t) {
          mode = decay * mode + b * x(t, h, i);
          y(t, h, i) += 2 * (Complex(c(h, k, i), cImag(h, k, i)) * mode).real();
        }
        state(h, k, i) = mode.real();
        stateImaginary(h, k, i) = mode.imag();
      }
    }
  frame.set(op.getY(), std::move(y));
  frame.set(op.getNextState(), std::move(state));
  frame.set(op.getNextStateImaginary(), std::move(stateImaginary));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(S4dOp)
