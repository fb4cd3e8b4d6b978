#include "passes/tile/OperandReads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace effc;
using namespace effc::tile;

bool effc::readsShared(OpOperand &use) {
  Operation *op = use.getOwner();
  if (isa<DotOp>(op))
    return use.getOperandNumber() > 0; // all but the accumulator
  if (isa<TakeOp>(op))
    return use.getOperandNumber() == 0; // all but the numbers
  return isa<ScanOp, SegmentDecayOp, ShiftOp, TopKOp>(op);
}

Type effc::roundedBy(OpOperand &use) {
  auto dot = dyn_cast<DotOp>(use.getOwner());
  if (!dot || !dot.getRoundedTo() || !readsShared(use))
    return {};
  Type rounded = *dot.getRoundedTo();
  return rounded.isTF32() ? Type() : rounded;
}

Type effc::roundedByAll(Value tile) {
  Type rounded;
  for (OpOperand &use : tile.getUses()) {
    Type type = roundedBy(use);
    if (!type || (rounded && type != rounded))
      return {};
    rounded = type;
  }
  return rounded;
}

bool effc::isMadeOfSums(Value tile) {
  if (tile.getDefiningOp<DotOp>())
    return true;
  auto map = tile.getDefiningOp<MapOp>();
  return map && llvm::any_of(map.getInputs(), [&](Value input) {
           auto type = dyn_cast<TileType>(input.getType());
           return type && type.isBlock() && isMadeOfSums(input);
         });
}

bool effc::keepsHeldRows(DotOp dot) {
  return dot.getRoundedTo() && dot.canTakeHeldRows();
}

bool effc::readsHeldSums(OpOperand &use) {
  auto dot = dyn_cast<DotOp>(use.getOwner());
  return dot && use.getOperandNumber() == 1 && keepsHeldRows(dot) &&
         isMadeOfSums(use.get());
}

// Whether all numbers that a scalar can be are a bf16 each: constants, and
// choices among them.
static bool isExactInBf16(Value scalar) {
  if (auto argument = dyn_cast<BlockArgument>(scalar)) {
    auto map = dyn_cast<MapOp>(argument.getOwner()->getParentOp());
    return map && isExactInBf16(map.getInputs()[argument.getArgNumber()]);
  }
  if (auto choice = scalar.getDefiningOp<arith::SelectOp>())
    return isExactInBf16(choice.getTrueValue()) &&
           isExactInBf16(choice.getFalseValue());
  APFloat number(0.0f);
  if (!matchPattern(scalar, m_ConstantFloat(&number)))
    return false;
  bool loses = false;
  number.convert(APFloat::BFloat(), APFloat::rmNearestTiesToEven, &loses);
  return !loses;
}

bool effc::isMaskOfProducts(Value tile) {
  Value scalar;
  if (auto map = tile.getDefiningOp<MapOp>())
    scalar = map.getBody().front().getTerminator()->getOperand(0);
  else if (auto splat = tile.getDefiningOp<SplatOp>())
    scalar = splat.getValue();
  return scalar && !tile.use_empty() && isExactInBf16(scalar) &&
         llvm::all_of(tile.getUses(), [](OpOperand &use) {
           return isa<DotOp>(use.getOwner()) && readsShared(use);
         });
}
