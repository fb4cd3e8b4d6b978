// What the code of each kernel reaches, kept until the artifact states it.
#ifndef EFFC_CODEGEN_ARTIFACT_KERNELEXTENTS_H
#define EFFC_CODEGEN_ARTIFACT_KERNELEXTENTS_H

#include "runtime/schema/program_generated.h"

#include "mlir/IR/BuiltinOps.h"

namespace effc::codegen {

/// Notes on the module what its tile kernels say of themselves: their items, and
/// of each operand the type of its view and whether it is aligned. Called while
/// there are kernels; what becomes of them is code, which says nothing.
void recordExtents(mlir::ModuleOp module);

/// Fills what recordExtents() has noted of the kernel, if it has: items and
/// extents, but for the kinds of operands.
void fillExtents(mlir::ModuleOp module, artifact::KernelT &kernel);

} // namespace effc::codegen

#endif // EFFC_CODEGEN_ARTIFACT_KERNELEXTENTS_H
