// The code of each level, side by side in one module.
#include "codegen/host/Passes.h"

#include "dialects/plan/Plan.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace effc::host {
#define GEN_PASS_DEF_JOINLEVELSPASS
#include "codegen/host/Passes.h.inc"

namespace {
struct JoinLevelsPass : impl::JoinLevelsPassBase<JoinLevelsPass> {
  using JoinLevelsPassBase::JoinLevelsPassBase;

  void runOnOperation() override {
    for (ModuleOp level :
         llvm::make_early_inc_range(getOperation().getOps<ModuleOp>())) {
      for (plan::BinaryOp binary :
           llvm::make_early_inc_range(level.getOps<plan::BinaryOp>())) {
        binary.setSymName(binary.getIsa());
        binary->moveBefore(level);
      }
      level.erase();
    }
  }
};
} // namespace
} // namespace effc::host
