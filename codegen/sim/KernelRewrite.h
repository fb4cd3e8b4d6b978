// One GPU kernel, op by op, into a function of the simulator's ABI.
#ifndef EFFC_CODEGEN_SIM_KERNELREWRITE_H
#define EFFC_CODEGEN_SIM_KERNELREWRITE_H

#include "codegen/sim/RewriteState.h"

namespace effc::sim {

/// Puts the function in place of `kernel`; an op that the simulator does not
/// know is an error.
mlir::LogicalResult rewriteKernel(mlir::LLVM::LLVMFuncOp kernel,
                                  RewriteState &s);

} // namespace effc::sim

#endif // EFFC_CODEGEN_SIM_KERNELREWRITE_H
