//===- Passes.td - from LLVM IR to images of machine code -----------------===//
#ifndef EFFC_CODEGEN_IMAGE_PASSES_TD
#define EFFC_CODEGEN_IMAGE_PASSES_TD

include "mlir/Pass/PassBase.td"

def EmitImagePass : Pass<"emit-image", "::mlir::ModuleOp"> {
  let summary = "Compile the lowered kernels to machine code";
  let description = [{
    Translates every `llvm.func` with a body to LLVM IR, optimises and emits it
    for the processor that the module's target is, or for the host's lowest level
    where the host plays a GPU or there is no target, links the whole into one
    import-free image and replaces the functions by a `plan.binary` that holds it.
    Code of a target with `optimised = false` and code of a simulated GPU is emitted
    as it is. Constants that the functions refer to go along; `effc.threads` and
    `effc.shared_bytes` of simulated kernels become the binary's.

    Needs: kernels wholly in the LLVM dialect; `ld.lld`.
    Keeps: everything else.
    Not done: no choice is made here; what is slow in the IR stays slow.

    Example: test/codegen/image/emit-image.mlir
  }];
  let dependentDialects = ["::effc::plan::PlanDialect", "::mlir::LLVM::LLVMDialect"];
}

#endif
