// seq.add, seq.silu, ... on one element.
#include "passes/seq_to_tile/ScalarCode.h"

#include "dialects/seq/Seq.h"
#include "dialects/storage/DenseKind.h"
#include "dialects/storage/NearestBF16.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace effc;

static Value constant(OpBuilder &b, Location loc, double value) {
  return arith::ConstantOp::create(
      b, loc, b.getF32FloatAttr(static_cast<float>(value)));
}

// 1 + exp(-x), the denominator of the logistic function.
static Value logisticDenominator(OpBuilder &b, Location loc, Value x) {
  Value decayed = math::ExpOp::create(b, loc, arith::NegFOp::create(b, loc, x));
  return arith::AddFOp::create(b, loc, constant(b, loc, 1.0), decayed);
}

// By integers: not every target has bf16 as a type of registers.
static Value emitRoundedToBF16(OpBuilder &b, Location loc, Value x) {
  auto word = [&](uint32_t value) -> Value {
    return arith::ConstantOp::create(
        b, loc, b.getI32IntegerAttr(static_cast<int32_t>(value)));
  };
  Value bits = arith::BitcastOp::create(b, loc, b.getI32Type(), x);
  Value rounded =
      storage::nearestBF16<arith::AddIOp, arith::AndIOp, arith::ShRUIOp>(
          b, loc, bits, word);
  rounded = arith::AndIOp::create(b, loc, rounded, word(0xffff0000));
  Value isNaN = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
  return arith::SelectOp::create(
      b, loc, isNaN, x, arith::BitcastOp::create(b, loc, x.getType(), rounded));
}

Value effc::emitRounded(OpBuilder &b, Location loc, Value x, Type stored) {
  switch (storage::getDenseKind(stored)) {
  case storage::DenseKind::F32:
    return x;
  case storage::DenseKind::BF16:
    return emitRoundedToBF16(b, loc, x);
  case storage::DenseKind::F16: {
    Value half = arith::TruncFOp::create(b, loc, stored, x);
    return arith::ExtFOp::create(b, loc, x.getType(), half);
  }
  case storage::DenseKind::I32:
  case storage::DenseKind::I64:
    break;
  }
  llvm::report_fatal_error("numbers are not rounded to integers");
}

Value effc::emitSilu(OpBuilder &b, Location loc, Value x) {
  return arith::DivFOp::create(b, loc, x, logisticDenominator(b, loc, x));
}

Value effc::emitSigmoid(OpBuilder &b, Location loc, Value x) {
  return arith::DivFOp::create(b, loc, constant(b, loc, 1.0),
                               logisticDenominator(b, loc, x));
}

// x / 2 erfc(-x / sqrt(2)): unlike 1 + erf it loses nothing where x is far
// below 0.
static Value emitGelu(OpBuilder &b, Location loc, Value x) {
  Value scaled = arith::MulFOp::create(
      b, loc, x, constant(b, loc, -0.70710678118654752440));
  Value half = arith::MulFOp::create(b, loc, x, constant(b, loc, 0.5));
  return arith::MulFOp::create(b, loc, half,
                               math::ErfcOp::create(b, loc, scaled));
}

// (1 + tanh(u)) / 2 is the logistic function of 2 u.
static Value emitGeluTanh(OpBuilder &b, Location loc, Value x) {
  Value square = arith::MulFOp::create(b, loc, x, x);
  // 2 sqrt(2 / pi) (1 + 0.044715 x^2)
  Value slope = math::FmaOp::create(
      b, loc, square, constant(b, loc, 1.59576912160573071176 * 0.044715),
      constant(b, loc, 1.59576912160573071176));
  Value twice = arith::MulFOp::create(b, loc, x, slope);
  return arith::DivFOp::create(b, loc, x, logisticDenominator(b, loc, twice));
}

static Value emitRelu(OpBuilder &b, Location loc, Value x) {
  return arith::MaximumFOp::create(b, loc, x, constant(b, loc, 0.0));
}

Value effc::emitNonlinearity(OpBuilder &b, Location loc, seq::Nonlinearity kind,
                             Value x) {
  switch (kind) {
  case seq::Nonlinearity::Identity:
    return x;
  case seq::Nonlinearity::Silu:
    return emitSilu(b, loc, x);
  case seq::Nonlinearity::Gelu:
    return emitGelu(b, loc, x);
  case seq::Nonlinearity::GeluTanh:
    return emitGeluTanh(b, loc, x);
  case seq::Nonlinearity::Relu:
    return emitRelu(b, loc, x);
  case seq::Nonlinearity::SquaredRelu: {
    Value y = emitRelu(b, loc, x);
    return arith::MulFOp::create(b, loc, y, y);
  }
  case seq::Nonlinearity::Sigmoid:
    return emitSigmoid(b, loc, x);
  }
  llvm_unreachable("a nonlinearity of no kind");
}

// max(x, 0) + log1p(exp(-|x|)): neither overflows nor loses small results.
static Value emitSoftplus(OpBuilder &b, Location loc, Value x) {
  Value zero = constant(b, loc, 0.0);
  Value away = arith::NegFOp::create(b, loc, math::AbsFOp::create(b, loc, x));
  Value rest = math::Log1pOp::create(b, loc, math::ExpOp::create(b, loc, away));
  return arith::AddFOp::create(
      b, loc, arith::MaximumFOp::create(b, loc, x, zero), rest);
}

Value effc::emitScalarCode(OpBuilder &b, Location loc, Operation *op,
                           ValueRange elements) {
  Value x = elements[0];
  if (isa<seq::AddOp>(op))
    return arith::AddFOp::create(b, loc, x, elements[1]);
  if (isa<seq::SubOp>(op))
    return arith::SubFOp::create(b, loc, x, elements[1]);
  if (isa<seq::MulOp>(op))
    return arith::MulFOp::create(b, loc, x, elements[1]);
  if (auto scale = dyn_cast<seq::ScaleOp>(op))
    return arith::MulFOp::create(
        b, loc, x, constant(b, loc, scale.getFactor().convertToDouble()));
  if (isa<seq::DivOp>(op))
    return arith::DivFOp::create(b, loc, x, elements[1]);
  if (isa<seq::MaxOp>(op))
    return arith::MaximumFOp::create(b, loc, x, elements[1]);
  if (isa<seq::NegOp>(op))
    return arith::NegFOp::create(b, loc, x);
  if (isa<seq::AbsOp>(op))
    return math::AbsFOp::create(b, loc, x);
  if (isa<seq::ReluOp>(op))
    return arith::MaximumFOp::create(b, loc, x, constant(b, loc, 0.0));
  if (isa<seq::TanhOp>(op))
    return math::TanhOp::create(b, loc, x);
  if (isa<seq::CosOp>(op))
    return math::CosOp::create(b, loc, x);
  if (isa<seq::SinOp>(op))
    return math::SinOp::create(b, loc, x);
  if (isa<seq::LogOp>(op))
    return math::LogOp::create(b, loc, x);
  if (isa<seq::SqrtOp>(op))
    return math::SqrtOp::create(b, loc, x);
  if (isa<seq::LogSigmoidOp>(op))
    return arith::NegFOp::create(
        b, loc, emitSoftplus(b, loc, arith::NegFOp::create(b, loc, x)));
  if (isa<seq::ExpOp>(op))
    return math::ExpOp::create(b, loc, x);
  if (isa<seq::SigmoidOp>(op))
    return emitSigmoid(b, loc, x);
  if (isa<seq::SiluOp>(op))
    return emitSilu(b, loc, x);
  if (isa<seq::GeluOp>(op))
    return emitGelu(b, loc, x);
  if (isa<seq::GeluTanhOp>(op))
    return emitGeluTanh(b, loc, x);
  if (isa<seq::SoftplusOp>(op))
    return emitSoftplus(b, loc, x);
  auto clamp = cast<seq::ClampOp>(op);
  if (auto lower = clamp.getLower())
    x = arith::MaximumFOp::create(b, loc, x,
                                  constant(b, loc, lower->convertToDouble()));
  if (auto upper = clamp.getUpper())
    x = arith::MinimumFOp::create(b, loc, x,
                                  constant(b, loc, upper->convertToDouble()));
  return x;
}
