#include "passes/seq_to_tile/builders/window/WindowPieces.h"

#include "passes/kernel_facts/MethodSizes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace effc;

WindowPieces WindowPieces::of(KernelBuilder &k, Value position, int64_t window,
                              int64_t positions) {
  WindowPieces pieces;
  pieces.oldest = k.index(0);
  if (window > 0) {
    Value first = k.max(pieces.oldest, k.sub(position, k.index(window - 1)));
    pieces.oldest = k.divide(first, positions).first;
  }
  Value newest = k.divide(position, positions).first;
  pieces.count = k.add(k.sub(newest, pieces.oldest), k.index(1));
  return pieces;
}

int64_t WindowPieces::most(int64_t window, int64_t ringRows,
                           int64_t positions) {
  if (window == 0)
    return llvm::divideCeilSigned(ringRows, positions);
  // The oldest key may be the last of its piece.
  return llvm::divideCeilSigned(window - 1, positions) + 1;
}

/// Pieces whose loads are on the way together, at most.
static constexpr int64_t kMostTogether = 16;

int64_t WindowPieces::together(int64_t most) {
  return llvm::divideCeilSigned(most,
                                llvm::divideCeilSigned(most, kMostTogether));
}

Value WindowPieces::memory(KernelBuilder &k, int64_t heads, int64_t channels,
                           int64_t most, bool written) {
  return k.scratch({ShapedType::kDynamic, heads,
                    int64_t(llvm::alignTo(most, together(most))),
                    int64_t(llvm::alignTo(channels + 2, kSectorElements))},
                   written);
}

Value effc::emitLarger(OpBuilder &b, Location loc, Value x, Value y) {
  return arith::MaximumFOp::create(b, loc, x, y);
}

std::pair<Value, Value> effc::emitWeights(OpBuilder &b, Location loc, Value x,
                                          Value y) {
  Value difference = arith::SubFOp::create(b, loc, x, y);
  Value distance = math::AbsFOp::create(b, loc, difference);
  Value smaller =
      math::ExpOp::create(b, loc, arith::NegFOp::create(b, loc, distance));
  auto constant = [&](float value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
  };
  Value isFirst = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE,
                                        difference, constant(0));
  Value one = constant(1);
  return {arith::SelectOp::create(b, loc, isFirst, one, smaller),
          arith::SelectOp::create(b, loc, isFirst, smaller, one)};
}

Value effc::emitWeightedSum(OpBuilder &b, Location loc, Value x, Value xWeight,
                            Value y, Value yWeight) {
  Value second = arith::MulFOp::create(b, loc, y, yWeight);
  return math::FmaOp::create(b, loc, x, xWeight, second);
}

// The largest term of a sum is 1: only an empty one is less.
Value effc::emitMean(OpBuilder &b, Location loc, Value mixed, Value total) {
  Value least = arith::ConstantOp::create(
      b, loc, b.getF32FloatAttr(std::numeric_limits<float>::min()));
  return arith::DivFOp::create(b, loc, mixed,
                               arith::MaximumFOp::create(b, loc, total, least));
}
