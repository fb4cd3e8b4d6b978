// The table of units and what their ops become.
#include "codegen/sim/units/Units.h"

using namespace mlir;

namespace effc::sim {

namespace {
struct UnitRewrites {
  void (*add)(Rewrites &rewrites, std::shared_ptr<Fragments> fragments);
  std::optional<ProductRegisters> (*registers)(Operation *op);
};
} // namespace

static constexpr UnitRewrites kUnits[] = {
    {addWarpProduct, warpProductRegisters},
    {addWarpGroupProduct, warpGroupProductRegisters}};

std::optional<ProductRegisters> productRegisters(Operation *op) {
  for (const UnitRewrites &unit : kUnits)
    if (std::optional<ProductRegisters> found = unit.registers(op))
      return found;
  return std::nullopt;
}

void addProducts(Rewrites &rewrites, LLVM::LLVMFuncOp function) {
  auto fragments = std::make_shared<Fragments>(function);
  addFragments(rewrites, fragments);
  for (const UnitRewrites &unit : kUnits)
    unit.add(rewrites, fragments);
}

} // namespace effc::sim
