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

bool effc::tile::mayBeReadBesideThreads(Value tile) {
  auto type = cast<TileType>(tile.getType());
  Operation *holder = tile.getParentRegion()->getParentOp();
  auto kernel = dyn_cast<KernelOp>(holder);
  if (!kernel)
    kernel = holder->getParentOfType<KernelOp>();
  auto result = kernel->walk([&](DotOp dot) {
    ProductUnit unit = productUnitOf(dot);
    return unit.isAsynchronous() && hasOwnRows(unit, type)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return result.wasInterrupted();
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
