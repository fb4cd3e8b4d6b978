// exp, expm1, log, log1p, tanh, erfc, sin and cos as polynomials.
//
// exp(x) = 2^n e^r with n = round(x / ln 2) and |r| <= ln 2 / 2; ln 2 is split
// in two so that r is exact to the last place; 2^n is applied in two halves, so
// that results below the normal range round once. Where x is a size, negated,
// as decays and pairs of exponentials have it, n is at most 0 and less will do.
// expm1(x) = 2^n (e^r - 1) + (2^n - 1) takes the same steps up to e^r - 1.
// log1p(x) for x > -1 takes log(y) + c / y with y = fl(1 + x) and c the part of
// x that y lost; log(y) = e ln 2 + log(m), m in [sqrt(1/2), sqrt(2)). The
// coefficients are the minimax ones of Cephes' single-precision expf, logf,
// tanhf, erfcf, sinf and cosf (S. Moshier). erfc(x) is 1 - x p(x^2)
// for |x| < 1, and exp(-x^2) / |x| p(1 / x^2) beyond, or 2 minus that; x^2 is
// kept in two parts, since its rounding is an absolute error of the exponent.
// sin and cos take quarter turns off, pi / 2 split in two; kernels hand them
// angles of at most a turn, and past 2^13 the result is NaN rather than noise.
#include "codegen/math/Decays.h"
#include "codegen/math/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <limits>

using namespace mlir;

namespace effc::f32 {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "codegen/math/Passes.h.inc"

namespace {

// e^r - 1 where x = n ln 2 + r.
Value lessOneOfRest(Arithmetic &a, Value x, Value n) {
  Value r = a.fma(n, a.constant(-0.693359375f), x);
  r = a.fma(n, a.constant(2.12194440e-4f), r);
  Value square = a.mul(r, r);
  auto pair = [&](float slope, float start) {
    return a.fma(r, a.constant(slope), a.constant(start));
  };
  // In pairs, since what exponentials cost is the wait for one another.
  Value p = a.fma(pair(1.9875691500e-4f, 1.3981999507e-3f), square,
                  pair(8.3334519073e-3f, 4.1665795894e-2f));
  p = a.fma(p, square, pair(1.6666665459e-1f, 5.0000001201e-1f));
  return a.fma(p, square, r);
}

// The same and 1, times a power of two: rounded once, as their sum is.
Value expOfRest(Arithmetic &a, Value less, Value power) {
  return a.fma(less, power, power);
}

// Of x at most 0, n lies in [-150, 0]: one factor 2^(n + 32), whose bits are
// the sum's that rounds n, and a constant one, so that results below the normal
// range round once.
Value expandDecay(Arithmetic &a, Value x) {
  constexpr float kRounder = 0x1.8p23f + 32 + 127;
  Value low = a.constant(-104.0f), rounder = a.constant(kRounder);
  // A NaN fails the comparison, passes and stays one.
  Value clamped =
      a.select(a.compare(arith::CmpFPredicate::OLT, x, low), low, x);
  Value sum = a.fma(clamped, a.constant(1.44269504088896341f), rounder);
  Value less = lessOneOfRest(a, clamped, a.sub(sum, rounder));
  Value factor = a.asFloat(
      arith::ShLIOp::create(a.b, a.loc, a.asInteger(sum), a.bits(23)));
  return a.mul(expOfRest(a, less, factor), a.constant(0x1p-32f));
}

// A number between those from which exponentials round to 0 and to infinity,
// and its whole multiples of ln 2.
struct Reduced {
  Value x, n;
};
Reduced reduce(Arithmetic &a, Value x) {
  // Below -104 the result rounds to 0, above 89 to infinity.
  // A NaN fails both comparisons, passes and stays one.
  Value low = a.constant(-104.0f), high = a.constant(89.0f);
  Value clamped =
      a.select(a.compare(arith::CmpFPredicate::OLT, x, low), low, x);
  clamped = a.select(a.compare(arith::CmpFPredicate::OGT, clamped, high), high,
                     clamped);
  Value n = math::RoundEvenOp::create(
      a.b, a.loc, a.mul(clamped, a.constant(1.44269504088896341f)));
  return {clamped, n};
}

// Two factors whose product is 2^n.
std::pair<Value, Value> powers(Arithmetic &a, Value n) {
  Value exponent = a.toInteger(n);
  Value half = arith::ShRSIOp::create(a.b, a.loc, exponent, a.bits(1));
  Value rest = arith::SubIOp::create(a.b, a.loc, exponent, half);
  return {a.power(half), a.power(rest)};
}

Value expandExp(Arithmetic &a, Value x) {
  if (isNegatedSize(x))
    return expandDecay(a, x);
  auto [clamped, n] = reduce(a, x);
  Value less = lessOneOfRest(a, clamped, n);
  auto [half, rest] = powers(a, n);
  return a.mul(expOfRest(a, less, half), rest);
}

Value expandExpM1(Arithmetic &a, Value x) {
  auto [clamped, n] = reduce(a, x);
  auto [half, rest] = powers(a, n);
  Value power = a.mul(half, rest);
  Value less = lessOneOfRest(a, clamped, n);
  Value near = a.fma(power, less, a.sub(power, a.constant(1.0f)));
  // Where 2^n may be infinite, one is less than a rounding.
  Value far = a.mul(expOfRest(a, less, half), rest);
  return a.select(
      a.compare(arith::CmpFPredicate::OGT, clamped, a.constant(64.0f)), far,
      near);
}

// log(y) for normal positive y.
Value expandLog(Arithmetic &a, Value y) {
  Value shifted =
      arith::SubIOp::create(a.b, a.loc, a.asInteger(y), a.bits(0x3f3504f3));
  Value exponent = arith::ShRSIOp::create(a.b, a.loc, shifted, a.bits(23));
  Value mantissa = arith::SubIOp::create(
      a.b, a.loc, a.asInteger(y),
      arith::ShLIOp::create(a.b, a.loc, exponent, a.bits(23)));
  Value m = a.sub(a.asFloat(mantissa), a.constant(1.0f));
  Value square = a.mul(m, m);
  Value p =
      a.polynomial(m, {7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f,
                       -1.2420140846e-1f, 1.4249322787e-1f, -1.6668057665e-1f,
                       2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f});
  Value n = a.toFloat(exponent);
  Value tail = a.mul(a.mul(p, m), square);
  tail = a.fma(n, a.constant(-2.12194440e-4f), tail);
  tail = a.fma(square, a.constant(-0.5f), tail);
  return a.fma(n, a.constant(0.693359375f), a.add(m, tail));
}

Value expandLogarithm(Arithmetic &a, Value x) {
  Value infinity = a.constant(std::numeric_limits<float>::infinity()),
        zero = a.constant(0.0f);
  // Subnormal numbers are scaled into the normal range: log(2^-23 y).
  Value isSmall = a.compare(arith::CmpFPredicate::OLT, x,
                            a.constant(std::numeric_limits<float>::min()));
  Value scaled = a.select(isSmall, a.mul(x, a.constant(8388608.0f)), x);
  Value result = expandLog(a, scaled);
  result =
      a.select(isSmall, a.sub(result, a.constant(15.9423851528787f)), result);
  result = a.select(a.compare(arith::CmpFPredicate::OEQ, x, infinity), infinity,
                    result);
  result =
      a.select(a.compare(arith::CmpFPredicate::OEQ, x, zero),
               a.constant(-std::numeric_limits<float>::infinity()), result);
  Value outside = a.compare(arith::CmpFPredicate::ULT, x, zero); // NaN too
  return a.select(outside, a.constant(std::numeric_limits<float>::quiet_NaN()),
                  result);
}

// Near 0 an odd polynomial, whose error is relative; else 1 - 2 / (e^2|x| + 1).
Value expandTanh(Arithmetic &a, Value x) {
  Value size = math::AbsFOp::create(a.b, a.loc, x);
  Value square = a.mul(x, x);
  Value p = a.polynomial(square, {-5.70498872745e-3f, 2.06390887954e-2f,
                                  -5.37397155531e-2f, 1.33314422036e-1f,
                                  -3.33332819422e-1f});
  Value near = a.fma(a.mul(p, square), x, x);
  Value e = expandExp(a, a.add(size, size));
  Value one = a.constant(1.0f);
  Value far = a.sub(one, a.div(a.constant(2.0f), a.add(e, one)));
  Value isNear = a.compare(arith::CmpFPredicate::OLT, size, a.constant(0.625f));
  Value sign = arith::AndIOp::create(a.b, a.loc, a.asInteger(x),
                                     a.bits(static_cast<int32_t>(0x80000000)));
  Value result = a.select(isNear, near, far);
  // The sign of x, that of -0 too.
  result =
      a.asFloat(arith::OrIOp::create(a.b, a.loc, a.asInteger(result), sign));
  return a.select(a.compare(arith::CmpFPredicate::UNO, x, x), x, result);
}

Value expandLog1p(Arithmetic &a, Value x) {
  if (isDecay(x))
    return log1pOfDecay(a, x);
  Value one = a.constant(1.0f),
        infinity = a.constant(std::numeric_limits<float>::infinity());
  Value y = a.add(x, one);
  Value lost = a.sub(x, a.sub(y, one));
  Value result = a.add(expandLog(a, y), a.div(lost, y));
  // Tiny x: 1 + x is 1 and the lost part is all of it, which the sum gives.
  result = a.select(a.compare(arith::CmpFPredicate::OEQ, x, infinity), infinity,
                    result);
  Value minusOne = a.constant(-1.0f);
  result =
      a.select(a.compare(arith::CmpFPredicate::OEQ, x, minusOne),
               a.constant(-std::numeric_limits<float>::infinity()), result);
  Value outside = a.compare(arith::CmpFPredicate::ULT, x, minusOne); // NaN too
  return a.select(outside, a.constant(std::numeric_limits<float>::quiet_NaN()),
                  result);
}

Value expandErfc(Arithmetic &a, Value x) {
  Value one = a.constant(1.0f), two = a.constant(2.0f);
  Value central =
      a.polynomial(a.mul(x, x), {7.853861353153693e-5f, -8.010193625184903e-4f,
                                 5.188327685732524e-3f, -2.685381193529856e-2f,
                                 1.128358514861418e-1f, -3.761262582423300e-1f,
                                 1.128379165726710f});
  central = a.fma(arith::NegFOp::create(a.b, a.loc, x), central, one);

  // Past 11 the result rounds to 0.
  Value away = math::AbsFOp::create(a.b, a.loc, x), eleven = a.constant(11.0f);
  away = a.select(a.compare(arith::CmpFPredicate::OGT, away, eleven), eleven,
                  away);
  Value square = a.mul(away, away);
  Value minus = arith::NegFOp::create(a.b, a.loc, square);
  Value lost = a.fma(away, away, minus);
  Value decayed = expandExp(a, minus);
  decayed = a.sub(decayed, a.mul(decayed, lost));
  Value inverse = a.div(one, away), y = a.mul(inverse, inverse);
  Value near = a.polynomial(y, {2.326819970068386e-2f, -1.387039388740657e-1f,
                                3.687424674597105e-1f, -5.824733027278666e-1f,
                                6.210004621745983e-1f, -4.944515323274145e-1f,
                                3.404879937665872e-1f, -2.741127028184656e-1f,
                                5.638259427386472e-1f});
  Value far = a.polynomial(y, {-1.047766399936249e+1f, 1.297719955372516e+1f,
                               -7.495518717768503f, 2.921019019210786f,
                               -1.015265279202700f, 4.218463358204948e-1f,
                               -2.820767439740514e-1f, 5.641895067754075e-1f});
  Value p =
      a.select(a.compare(arith::CmpFPredicate::OLT, away, two), near, far);
  Value tail = a.mul(a.mul(decayed, inverse), p);
  Value below = a.compare(arith::CmpFPredicate::OLT, x, a.constant(0.0f));
  tail = a.select(below, a.sub(two, tail), tail);
  return a.select(a.compare(arith::CmpFPredicate::OLT, away, one), central,
                  tail);
}

// sin(x), or cos(x) as the sine a quarter turn later.
Value expandSine(Arithmetic &a, Value x, bool cosine) {
  Value inside =
      a.compare(arith::CmpFPredicate::OLT, math::AbsFOp::create(a.b, a.loc, x),
                a.constant(8192.0f));
  Value angle = a.select(inside, x, a.constant(0.0f));
  Value quarters = math::RoundEvenOp::create(
      a.b, a.loc, a.mul(angle, a.constant(0.636619772367581343f)));
  Value y = a.fma(quarters, a.constant(-1.57079637050628662f), angle);
  y = a.fma(quarters, a.constant(4.37113882867379e-8f), y);
  Value square = a.mul(y, y);
  Value p = a.polynomial(
      square, {-1.9515295891e-4f, 8.3321608736e-3f, -1.6666654611e-1f});
  Value odd = a.fma(a.mul(p, square), y, y);
  p = a.polynomial(square, {2.443315711809948e-5f, -1.388731625493765e-3f,
                            4.166664568298827e-2f, -0.5f});
  Value even = a.fma(p, square, a.constant(1.0f));
  Value quarter = a.toInteger(quarters);
  if (cosine)
    quarter = arith::AddIOp::create(a.b, a.loc, quarter, a.bits(1));
  auto bitOf = [&](int32_t bit) -> Value {
    Value masked = arith::AndIOp::create(a.b, a.loc, quarter, a.bits(bit));
    return arith::CmpIOp::create(a.b, a.loc, arith::CmpIPredicate::ne, masked,
                                 a.bits(0));
  };
  Value result = a.select(bitOf(1), even, odd);
  result =
      a.select(bitOf(2), arith::NegFOp::create(a.b, a.loc, result), result);
  return a.select(inside, result,
                  a.constant(std::numeric_limits<float>::quiet_NaN()));
}
Value expandSin(Arithmetic &a, Value x) { return expandSine(a, x, false); }
Value expandCos(Arithmetic &a, Value x) { return expandSine(a, x, true); }

template <typename OpTy> struct ExpandPattern : OpRewritePattern<OpTy> {
  ExpandPattern(MLIRContext *context, Value (*expand)(Arithmetic &, Value))
      : OpRewritePattern<OpTy>(context), expand(expand) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "only f32 is expanded");
    Arithmetic arithmetic(rewriter, op.getLoc(), op.getType());
    rewriter.replaceOp(op, expand(arithmetic, op.getOperand()));
    return success();
  }

  Value (*expand)(Arithmetic &, Value);
};

struct ExpandMathPass : impl::ExpandMathPassBase<ExpandMathPass> {
  using ExpandMathPassBase::ExpandMathPassBase;

  void runOnOperation() override {
    // First, since it looks at the exponential that it is taken of.
    RewritePatternSet first(&getContext());
    first.add<ExpandPattern<math::Log1pOp>>(&getContext(), expandLog1p);
    if (failed(applyPatternsGreedily(getOperation(), std::move(first))))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandPattern<math::ExpOp>>(&getContext(), expandExp);
    patterns.add<ExpandPattern<math::ExpM1Op>>(&getContext(), expandExpM1);
    patterns.add<ExpandPattern<math::ErfcOp>>(&getContext(), expandErfc);
    patterns.add<ExpandPattern<math::LogOp>>(&getContext(), expandLogarithm);
    patterns.add<ExpandPattern<math::TanhOp>>(&getContext(), expandTanh);
    patterns.add<ExpandPattern<math::SinOp>>(&getContext(), expandSin);
    patterns.add<ExpandPattern<math::CosOp>>(&getContext(), expandCos);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
} // namespace effc::f32
