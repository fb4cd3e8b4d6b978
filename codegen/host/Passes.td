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
    Not done: `math` functions stay; `host-expand-math` replaces them.

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

    Needs: lowered kernels, before `host-expand-math`.
    Keeps: exponentials that stand alone, and every other op.
    Not done: pairs whose halves lie in different blocks.

    Example: test/codegen/host/pair-exponentials.mlir
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def ExpandMathPass : Pass<"host-expand-math", "::mlir::ModuleOp"> {
  let summary = "Replace exp, expm1, log, log1p, tanh and erfc by polynomials";
  let description = [{
    Host code calls no library, so that its bits depend on neither the C library
    nor the machine that compiled it. `math.exp`, `math.expm1`, `math.log1p` and `math.erfc` on
    f32 become range reduction and a polynomial: over all finite inputs the results are at most
    1.03 (exp), 1.54 (expm1) and 1.44 (log1p), over every 251st input 7.7 (erfc, just below 1) units
    in the last place from the exact ones, at infinity exact; NaN is kept.

    Keeps: functions that are one instruction (`sqrt`, `fma`, `absf`, rounding).
    Not done: other `math` functions; the host code then has an import, and the
    link refuses it by name.

    Example: test/codegen/host/expand-math.mlir
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def EmitCodePass : Pass<"host-emit-code", "::mlir::ModuleOp"> {
  let summary = "Compile the lowered kernels to machine code";
  let description = [{
    Translates every `llvm.func` with a body to LLVM IR, optimises and emits it
    for `cpu`, links the whole into one import-free image and replaces the
    functions by a `plan.binary` that holds it. Constants that they refer to go
    along; `effc.threads` and `effc.shared_bytes` of simulated kernels become the
    binary's.

    Needs: kernels wholly in the LLVM dialect; `ld.lld`.
    Keeps: everything else.
    Not done: no choice is made here; what is slow in the IR stays slow.

    Example: test/codegen/host/emit-code.mlir
  }];
  let dependentDialects = ["::effc::plan::PlanDialect", "::mlir::LLVM::LLVMDialect"];
  let options = [
    Option<"cpu", "cpu", "std::string", /*default=*/"\"x86-64-v3\"",
           "Instruction set level, as LLVM names it">,
    Option<"isa", "isa", "std::string", /*default=*/"\"\"",
           "What the binary is called; empty: `cpu`">];
}

#endif
