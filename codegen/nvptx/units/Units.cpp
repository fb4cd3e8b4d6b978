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

// What a chip lacks, ptxas would refuse by a line of PTX; and another unit may give
// other bits.
LogicalResult checkUnits(tile::KernelOp kernel) {
  tile::TargetAttr target = tile::getTarget(kernel);
  SmallVector<tile::ProductUnit> units =
      tile::usableUnits(target, kernel.getContext());
  auto result = kernel.walk([&](tile::DotOp dot) {
    tile::ProductUnit unit = tile::productUnitOf(dot);
    if (llvm::is_contained(units, unit))
      return WalkResult::advance();
    InFlightDiagnostic diagnostic =
        dot.emitOpError("expects a product unit of the target (");
    llvm::interleaveComma(units, diagnostic);
    diagnostic << (units.empty() ? "none" : "") << "), but got " << unit;
    if (!dot.getUnitAttr())
      diagnostic.attachNote()
          << "a product that names no unit, by 'by(...)', is " << unit << "'s";
    if (target && llvm::is_contained(target.getUnits(), unit))
      diagnostic.attachNote()
          << "the target is 'bit_stable', and sums of this unit depend on the "
             "rows beside";
    else if (!target || target.getUnits().empty())
      diagnostic.attachNote() << "a module whose 'tile.target' lists no "
                                 "'units', or that has none, has "
                              << units.front() << " alone";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

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
