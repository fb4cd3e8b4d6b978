// The token before.
#ifndef EFFC_DIALECTS_SEQ_OPS_TOKENSHIFT_TD
#define EFFC_DIALECTS_SEQ_OPS_TOKENSHIFT_TD

include "dialects/seq/SeqAttributes.td"

def Seq_TokenShiftOp
    : Seq_ValueOp<"token_shift", [
        AllTypesMatch<["x", "y"]>,
        AllTypesMatch<["last", "next_last"]>,
        DeclareOpInterfaceMethods<Seq_StatefulOpInterface>]> {
  let summary = "Give each token the one before it";
  let description = [{
    ```
    y[0,...]  = last
    y[t,...]  = x[t-1,...],  t = 1 .. T-1
    next_last = x[T-1,...]
    ```

    `T = 1` is the decode case. Before the first token of a sequence `last` is 0.

    | value       | shape            | element | meaning                        |
    |-------------|------------------|---------|--------------------------------|
    | `x`         | `T,D` or `T,H,D` | f32     | tokens                         |
    | `last`      | `D` or `H,D`     | f32     | the token before the first one |
    | `y`         | as `x`           | f32     | the token before each one      |
    | `next_last` | as `last`        | f32     | the last token                 |

    Constraints:

    * (TOKEN_SHIFT1) `x` is `T,D` or `T,H,D`, and `y` has its type.
    * (TOKEN_SHIFT2) `last` is a row of `x`, and `next_last` has its type.

    Example:

    ```mlir
    %y, %next = seq.token_shift %x state(%last) : tensor<?x10xf32>, tensor<10xf32>
    ```

    Source: Peng et al., RWKV, arXiv:2305.13048, which mixes each token with it.
  }];
  let arguments = (ins
    Seq_Tensor:$x,                          /*token_shift1*/
    Seq_StaticTensor:$last);                /*token_shift2*/
  let results = (outs Seq_Tensor:$y, Seq_StaticTensor:$next_last);
  let assemblyFormat = [{
    $x `state` `(` $last `)` attr-dict `:` type($x) `,` type($last)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$x, "::mlir::Value":$last), [{
    build($_builder, $_state, x.getType(), last.getType(), x, last);
  }]>];
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_OPS_TOKENSHIFT_TD
