// Sums of the tokens up to each one.
#ifndef EFFC_DIALECTS_SEQ_OPS_RUNNINGSUM_TD
#define EFFC_DIALECTS_SEQ_OPS_RUNNINGSUM_TD

include "dialects/seq/SeqAttributes.td"

def Seq_RunningSumOp : Seq_ValueOp<"running_sum", [AllTypesMatch<["x", "y"]>]> {
  let summary = "Sum a quantity over the tokens up to each one";
  let description = [{
    ```
    y[i, ...] = x[0, ...] + ... + x[i, ...]                      by default
              = x[0, ...] + ... + x[i-1, ...], 0 for i = 0       exclusive
              = x[T-1, ...] + ... + x[i, ...]                    reverse
              = x[T-1, ...] + ... + x[i+1, ...], 0 for i = T-1   both
    ```

    Of log-decays: what has happened since a block began, and what will happen
    until it ends. The terms are added in the order in which they stand above.
    No two results are ever subtracted: see `seq.segment_sum`.

    Constraints:

    * (RUNNING_SUM1) `x` has at least one dimension, with a static `T`.
    * (RUNNING_SUM2) `x` and `y` have one type.

    Example:

    ```mlir
    %since = seq.running_sum %log_decay : tensor<7x6xf32>
    %until = seq.running_sum %log_decay reverse exclusive : tensor<7x6xf32>
    ```
  }];
  let arguments = (ins
    Seq_Tensor:$x,                          /*running_sum1*/
    UnitAttr:$reverse,
    UnitAttr:$exclusive);
  let results = (outs Seq_Tensor:$y);       /*running_sum2*/
  let assemblyFormat = [{
    $x (`reverse` $reverse^)? (`exclusive` $exclusive^)? attr-dict `:` type($x)
  }];
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_OPS_RUNNINGSUM_TD
