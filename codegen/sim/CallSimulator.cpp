// NVVM kernels -> functions of the simulator's ABI.
//
//   nvvm.barrier0
//     ->  calls.barrier(thread, "layers.0.norm: tile.barrier")
//   %v = llvm.load %p : ptr<3>
//     ->  calls.access(thread, %p, 4, 4, shared, "...")
//         %v = llvm.load %p
#include "codegen/sim/Passes.h"

#include "codegen/sim/KernelRewrite.h"

using namespace mlir;

namespace effc::sim {
#define GEN_PASS_DEF_CALLSIMULATORPASS
#include "codegen/sim/Passes.h.inc"

static constexpr unsigned kSharedSpace = 3;

namespace {
struct CallSimulatorPass : impl::CallSimulatorPassBase<CallSimulatorPass> {
  using CallSimulatorPassBase::CallSimulatorPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::StringMap<LLVM::GlobalOp> sites;
    for (auto function :
         llvm::make_early_inc_range(module.getOps<LLVM::LLVMFuncOp>())) {
      if (!function->hasAttr("nvvm.kernel"))
        continue;
      RewriteState state(module, sites);
      if (failed(rewriteKernel(function, state)))
        return signalPassFailure();
    }
    // Their memory is the simulator's now.
    for (auto global :
         llvm::make_early_inc_range(module.getOps<LLVM::GlobalOp>()))
      if (global.getAddrSpace() == kSharedSpace)
        global.erase();
  }
};
} // namespace
} // namespace effc::sim
