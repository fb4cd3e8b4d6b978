// The kernels, once for each level of the host's instruction set that code is
// made for.
#include "codegen/host/Passes.h"

#include "dialects/tile/Tile.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace effc::host {
#define GEN_PASS_DEF_SPLITLEVELSPASS
#include "codegen/host/Passes.h.inc"

namespace {
struct SplitLevelsPass : impl::SplitLevelsPassBase<SplitLevelsPass> {
  using SplitLevelsPassBase::SplitLevelsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    tile::TargetAttr target = tile::getTarget(module);
    if (!target || target.getFurther().empty())
      return;
    SmallVector<tile::KernelOp> kernels(module.getOps<tile::KernelOp>());
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    for (size_t i = 0; i <= target.getFurther().size(); ++i) {
      tile::TargetAttr level = target.ofLevel(i);
      auto of = ModuleOp::create(builder, module.getLoc(),
                                 level.getCode() ? level.getCode().getValue()
                                                 : StringRef("host"));
      of->setAttr(tile::kTargetAttr, level);
      OpBuilder inside = OpBuilder::atBlockEnd(of.getBody());
      for (tile::KernelOp kernel : kernels)
        inside.clone(*kernel);
    }
    for (tile::KernelOp kernel : kernels)
      kernel.erase();
  }
};
} // namespace
} // namespace effc::host
