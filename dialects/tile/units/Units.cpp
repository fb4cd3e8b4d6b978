#include "dialects/tile/units/Units.h"

using namespace mlir;
using namespace effc::tile;

// Those with rows of their own come before `mma.sync`, which takes all others.
static constexpr UnitGetter kUnits[] = {getWgmma, getMmaSync};

ArrayRef<UnitGetter> effc::tile::allUnits() { return kUnits; }

static ProductUnit unitThatTakesB(SharedAttr layout) {
  for (UnitGetter get : kUnits)
    if (ProductUnit unit = get(layout.getContext()); unit.takesB(layout))
      return unit;
  llvm_unreachable("mma.sync takes what no other unit does");
}

ProductUnit effc::tile::productUnitOf(DotOp dot) {
  return unitThatTakesB(dot.getB().getType().getSharedLayout());
}

bool effc::tile::isReadBesideThreads(SharedAttr layout) {
  return unitThatTakesB(layout).isAsynchronous();
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
