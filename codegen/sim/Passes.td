//===- Passes.td - from GPU code to code of the simulator -----------------===//
#ifndef EFFC_CODEGEN_SIM_PASSES_TD
#define EFFC_CODEGEN_SIM_PASSES_TD

include "mlir/Pass/PassBase.td"

def CallSimulatorPass : Pass<"sim-call-simulator", "::mlir::ModuleOp"> {
  let summary = "Make what a GPU does in hardware calls of the simulator";
  let description = [{
    Each function with `nvvm.kernel` becomes one with the signature of a simulated
    kernel (runtime/abi/SimAbi.h), which does what one thread does.
    NVVM ops become calls through the table that it is passed, and each access of
    global or shared memory gets a call before it that checks it. A call names
    the op that it stands for, by the location of the code. The module is the one
    that goes to `ptxas`: nothing else is different.

    Needs: functions wholly in the LLVM and NVVM dialects.
    Keeps: everything that is not a GPU kernel.
    Not done: an NVVM op or intrinsic that the simulator does not know is an
    error.

    Example: test/codegen/sim/call-simulator.mlir
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif
