#include "passes/tile/OperandReads.h"

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
