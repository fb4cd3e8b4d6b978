// Triangular systems: tokens that depend on the tokens before.
#ifndef EFFC_DIALECTS_SEQ_OPS_SOLVEUNITLOWER_TD
#define EFFC_DIALECTS_SEQ_OPS_SOLVEUNITLOWER_TD

include "dialects/seq/SeqAttributes.td"

def Seq_SolveUnitLowerOp
    : Seq_ValueOp<"solve_unit_lower", [AllTypesMatch<["b", "x"]>]> {
  let summary = "Solve (I - L) X = B for a strictly lower triangular L";
  let description = [{
    ```
    x[..., i, :] = b[..., i, :] + sum_{j < i} l[..., i, j] x[..., j, :]
    ```

    for i = 0, 1, ..., T-1: forward substitution, which is how rank-one
    corrections of tokens of one block depend on one another (the WY or UT
    transform). Entries of `l` on and above the diagonal are not read. No
    inverse is formed by powers of `L`, whose elements grow with the block
    where the solution does not.

    | value | shape     | element | meaning                           |
    |-------|-----------|---------|-----------------------------------|
    | `l`   | `...,T,T` | f32     | what token i takes of token j < i |
    | `b`   | `...,T,N` | f32     | right-hand sides                  |
    | `x`   | `...,T,N` | f32     | solutions                         |

    Constraints:

    * (SOLVE_UNIT_LOWER1) `l` has two equal dimensions last, `T,T`.
    * (SOLVE_UNIT_LOWER2) `b` has the dimensions of `l` but the last.
    * (SOLVE_UNIT_LOWER3) `x` has the type of `b`.

    Example:

    ```mlir
    %z = seq.solve_unit_lower %l, %b : tensor<6x7x7xf32>, tensor<6x7x5xf32>
    ```
  }];
  let arguments = (ins
    Seq_Tensor:$l,                          /*solve_unit_lower1*/
    Seq_Tensor:$b);                         /*solve_unit_lower2*/
  let results = (outs Seq_Tensor:$x);       /*solve_unit_lower3*/
  let assemblyFormat = "$l `,` $b attr-dict `:` type($l) `,` type($b)";
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_OPS_SOLVEUNITLOWER_TD
