//===- Passes.td - from tile kernels to host code -------------------------===//
#ifndef EFFC_CODEGEN_HOST_PASSES_TD
#define EFFC_CODEGEN_HOST_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerKernelsPass : Pass<"host-lower-kernels", "::mlir::ModuleOp"> {
  let summary = "Turn tile kernels into functions of loops, vectors and pointers";
  let description = [{
    Each `tile.kernel` becomes an `llvm.func` with the signature of a host kernel
    (operands, counts, first item, last item); its body is `scf` loops over
    vectors. The function's attribute `effc.stack_bytes` is what its buffers take.

    Needs: kernels at kernel level (no layouts).
    Keeps: everything that is not a kernel.
    Not done: `math` functions stay; `expand-math` replaces them.

    Example: test/codegen/host/lower-kernels.mlir
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect"];
}

def PairExponentialsPass : Pass<"host-pair-exponentials", "::mlir::ModuleOp"> {
  let summary = "Take one exponential where two follow from it";
  let description = [{
    Of the exponentials of two numbers less their maximum one is 1, and the other
    is `exp(-|p - q|)`: the same bits, an exponential less. Of the sigmoids of a
    number and of its negative both follow from `exp(-|x|)`: an exponential and a
    division less. `tanh(x / 2) (exp(x) + 1)` is `expm1(x)`: an exponential and a
    division less, and two exponentials where `exp(x / 2)` is there.

    Needs: lowered kernels, before `expand-math`.
    Keeps: exponentials that stand alone, and every other op.
    Not done: pairs whose halves lie in different blocks.

    Example: test/codegen/host/pair-exponentials.mlir
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

#endif
