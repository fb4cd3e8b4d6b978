// Numbers from 0 to 1 and those at most 0, as softplus and decays have them:
// what is taken of them takes less.
#ifndef EFFC_CODEGEN_MATH_DECAYS_H
#define EFFC_CODEGEN_MATH_DECAYS_H

#include "codegen/math/Arithmetic.h"

namespace effc::f32 {

/// Whether x is a number's size, negated: at most 0.
inline bool isNegatedSize(mlir::Value x) {
  auto negated = x.getDefiningOp<mlir::arith::NegFOp>();
  return negated && negated.getOperand().getDefiningOp<mlir::math::AbsFOp>();
}

/// Whether x is the exponential of a number's size, negated: from 0 to 1.
inline bool isDecay(mlir::Value x) {
  auto exp = x.getDefiningOp<mlir::math::ExpOp>();
  return exp && isNegatedSize(exp.getOperand());
}

/// log(1 + x) of such an exponential, with small relative errors for small x: 2
/// artanh(s / 2), s = x / (1 + x / 2), with a minimax polynomial in s^2.
inline mlir::Value log1pOfDecay(Arithmetic &a, mlir::Value x) {
  mlir::Value s = a.div(x, a.fma(x, a.constant(0.5f), a.constant(1.0f)));
  mlir::Value square = a.mul(s, s);
  mlir::Value p = a.polynomial(square, {5.473555066e-04f, 2.187430859e-03f,
                                        1.250678115e-02f, 8.333301544e-02f});
  return a.fma(a.mul(s, square), p, s);
}

} // namespace effc::f32

#endif // EFFC_CODEGEN_MATH_DECAYS_H
