// The table of units and their lowerings.
#include "codegen/nvptx/units/Units.h"

#include "codegen/nvptx/Lowerings.h"
#include "dialects/tile/units/Units.h"

using namespace mlir;
using namespace effc;

namespace effc::nvptx {

namespace {
struct UnitLowering {
  tile::UnitGetter unit;
  void (*lower)(tile::DotOp dot, ThreadState &t);
  bool (*writeAssembly)(Operation *op); // null: NVVM has all its ops
};
} // namespace

static constexpr UnitLowering kUnits[] = {
    {tile::getMmaSync, lowerWarpProduct, nullptr},
    {tile::getWgmma, lowerWarpGroupProduct, writeWarpGroupAssembly}};

void lower(tile::DotOp dot, ThreadState &t) {
  tile::ProductUnit unit = tile::productUnitOf(dot);
  assert(t.threads % (unit.getWarps() * tile::kWarp) == 0 &&
         "the warps of a product are all there");
  const UnitLowering *found =
      llvm::find_if(kUnits, [&](const UnitLowering &lowering) {
        return lowering.unit(dot.getContext()) == unit;
      });
  assert(found != std::end(kUnits) && "every unit has a lowering");
  found->lower(dot, t);
}

bool writeUnitAssembly(Operation *op) {
  return llvm::any_of(kUnits, [&](const UnitLowering &lowering) {
    return lowering.writeAssembly && lowering.writeAssembly(op);
  });
}

} // namespace effc::nvptx
