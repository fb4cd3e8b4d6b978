// Keys and values of a call, which its states will have in 16 or 8 bits.
#include "passes/seq_to_tile/ScalarCode.h"
#include "passes/seq_to_tile/builders/window/Window.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace effc;

// As host kernels write rows of bytes, and read them again, to the bit
// (codegen/host/RowBytes.cpp): in place of an integer a number that is one.
static Value asBytes(OpBuilder &b, Location loc, Value x, Value largest) {
  auto constant = [&](float value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
  };
  Value infinity = constant(std::numeric_limits<float>::infinity());
  auto isBelowInfinity = [&](Value value) -> Value {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, value,
                                 infinity);
  };
  Value scale = arith::DivFOp::create(b, loc, largest, constant(127));
  Value inverse = arith::DivFOp::create(b, loc, constant(1), scale);
  Value large = isBelowInfinity(inverse), zero = constant(0);
  scale = arith::SelectOp::create(b, loc, large, scale, zero);
  inverse = arith::SelectOp::create(b, loc, large, inverse, zero);
  Value code = math::RoundEvenOp::create(
      b, loc, arith::MulFOp::create(b, loc, x, inverse));
  // An integer has no zero below zero.
  code = arith::AddFOp::create(b, loc, code, zero);
  return arith::SelectOp::create(
      b, loc, isBelowInfinity(largest),
      arith::MulFOp::create(b, loc, scale, code),
      constant(std::numeric_limits<float>::quiet_NaN()));
}

Value WindowKernel::asKept(Value rows, Value state) {
  Type stored = k.getContext().storedAs(state);
  if (k.isGpu() || !stored || stored.isF32())
    return rows;
  auto type = cast<tile::TileType>(rows.getType());
  if (!isa<storage::BlockType>(stored))
    return k.map(type, {rows}, [&](OpBuilder &builder, ValueRange e) {
      return emitRounded(builder, k.loc(), e[0], stored);
    });
  Value magnitudes =
      k.map(type, {rows}, [&](OpBuilder &builder, ValueRange e) -> Value {
        return math::AbsFOp::create(builder, k.loc(), e[0]);
      });
  Value largest = tile::ReduceOp::create(b, k.loc(), k.columnType(type.rows()),
                                         tile::ReduceKind::Max, magnitudes,
                                         /*over_rows=*/false);
  return k.map(type, {rows, largest}, [&](OpBuilder &builder, ValueRange e) {
    return asBytes(builder, k.loc(), e[0], e[1]);
  });
}
