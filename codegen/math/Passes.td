//===- Passes.td - the f32 mathematics of all targets ---------------------===//
#ifndef EFFC_CODEGEN_MATH_PASSES_TD
#define EFFC_CODEGEN_MATH_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandMathPass : Pass<"expand-math", "::mlir::ModuleOp"> {
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

    Example: test/codegen/math/expand-math.mlir
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

#endif
