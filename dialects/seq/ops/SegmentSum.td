// Decays between any two tokens of a block.
#ifndef EFFC_DIALECTS_SEQ_OPS_SEGMENTSUM_TD
#define EFFC_DIALECTS_SEQ_OPS_SEGMENTSUM_TD

include "dialects/seq/SeqAttributes.td"

def Seq_SegmentSumOp : Seq_ValueOp<"segment_sum"> {
  let summary = "Sum a quantity between any two tokens of a block";
  let description = [{
    ```
    y[..., i, j] = x[j+1, ...] + x[j+2, ...] + ... + x[i, ...]   for j < i
                 = 0                                             for j = i
                 = -inf                                          for j > i
    ```

    With `x` the log-decays (nats, at most 0), `exp(y)` is the factor by which
    what token `j` wrote has decayed when token `i` reads, and 0 for tokens that
    `i` does not see.

    `strict` leaves out the diagonal too: -inf for j >= i. `exclusive` sums up to
    the token before the reader, x[j+1] + ... + x[i-1], and is -inf for j >= i:
    what a token reads before its own decay.

    The result is defined as a running sum of terms down each column, never as a
    difference of cumulative sums: after one token with log-decay -1e4, a
    cumulative sum in f32 resolves no better than 1e-3, and every later mild
    decay would be lost.

    | value | shape     | element | meaning                     |
    |-------|-----------|---------|-----------------------------|
    | `x`   | `T,...`   | f32     | one quantity per token      |
    | `y`   | `...,T,T` | f32     | sums from column to row     |

    Constraints:

    * (SEGMENT_SUM1) `x` has at least one dimension, and its `T` is static: the
      square belongs to one block of known size.
    * (SEGMENT_SUM2) `y` has the dimensions of `x` after the first, then `T,T`.
    * (SEGMENT_SUM3) `strict` and `exclusive` are not both given: the second
      implies the first.

    Example:

    ```mlir
    %sums = seq.segment_sum %log_decay : tensor<7x6xf32> -> tensor<6x7x7xf32>
    ```
  }];
  let arguments = (ins
    Seq_Tensor:$x,                          /*segment_sum1*/
    UnitAttr:$strict,                       /*segment_sum3*/
    UnitAttr:$exclusive);                   /*segment_sum3*/
  let results = (outs Seq_Tensor:$y);       /*segment_sum2*/
  let assemblyFormat = [{
    $x (`strict` $strict^)? (`exclusive` $exclusive^)? attr-dict `:` type($x)
    `->` type($y)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$x,
                             CArg<"bool", "false">:$strict,
                             CArg<"bool", "false">:$exclusive)>];
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_OPS_SEGMENTSUM_TD
