//===- Passes.td - from tile kernels to host code -------------------------===//
#ifndef EFFC_CODEGEN_HOST_PASSES_TD
#define EFFC_CODEGEN_HOST_PASSES_TD

include "mlir/Pass/PassBase.td"

def SplitLevelsPass : Pass<"host-split-levels", "::mlir::ModuleOp"> {
  let summary = "Give each level of the instruction set its kernels";
  let description = [{
    Where the module's target names `further` levels, the kernels go into a module for
    each of them, the first one included, whose target has that level alone. What
    follows runs on these modules one after the other. With one level nothing changes.

    Needs: kernels at kernel level (no layouts).
    Keeps: plans and everything else that is no kernel.
    Not done: the levels share nothing; equal code of two of them is there twice.

    Example: test/codegen/host/levels.mlir
  }];
  let dependentDialects = ["::effc::tile::TileDialect"];
}

def JoinLevelsPass : Pass<"host-join-levels", "::mlir::ModuleOp"> {
  let summary = "Put the code of all levels side by side";
  let description = [{
    Each `plan.binary` of a module that `host-split-levels` made moves out of it and is
    called by its level; the module goes.

    Needs: modules of levels whose kernels are code.
    Keeps: the order of the levels, and everything else.
    Not done: no check that levels have the same kernels; the artifact's writer has one.

    Example: test/codegen/host/levels.mlir
  }];
  let dependentDialects = ["::effc::plan::PlanDialect"];
}

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
