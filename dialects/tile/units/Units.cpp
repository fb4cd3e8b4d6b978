#include "dialects/tile/units/Units.h"

using namespace mlir;
using namespace effc::tile;

ProductUnit effc::tile::productUnitOf(DotOp dot) {
  ProductUnit unit = dot.getUnitAttr();
  return unit ? unit : getMmaSync(dot.getContext());
}

void effc::tile::setProductUnit(DotOp dot, ProductUnit unit) {
  dot.setUnitAttr(unit == getMmaSync(dot.getContext()) ? ProductUnit() : unit);
}

static bool hasOwnRows(ProductUnit unit, TileType type) {
  std::optional<SharedRows> own = unit.getOwnRows(type.getElementType());
  SharedAttr layout = type.getSharedLayout();
  return own && own->stride == layout.getStride() &&
         own->swizzled == layout.getSwizzled();
}

bool effc::tile::isReadBesideThreads(Value tile) {
  auto type = cast<TileType>(tile.getType());
  return llvm::any_of(tile.getUses(), [&](OpOperand &use) {
    if (auto await = dyn_cast<AwaitOp>(use.getOwner()))
      return isReadBesideThreads(await.getResult(use.getOperandNumber()));
    if (auto await = dyn_cast<AwaitBoxOp>(use.getOwner()))
      return isReadBesideThreads(await.getResult());
    auto dot = dyn_cast<DotOp>(use.getOwner());
    if (!dot || use.get() == dot.getAcc())
      return false;
    ProductUnit unit = productUnitOf(dot);
    return unit.isAsynchronous() && hasOwnRows(unit, type);
  });
}

SmallVector<ProductUnit> effc::tile::usableUnits(TargetAttr target,
                                                 MLIRContext *context) {
  if (!target || target.getUnits().empty())
    return {getMmaSync(context)};
  SmallVector<ProductUnit> units;
  for (Attribute unit : target.getUnits())
    if (auto usable = cast<ProductUnit>(unit);
        usable.isBitStable() || !target.getBitStable())
      units.push_back(usable);
  return units;
}
