// Elements along an axis become one.
#ifndef EFFC_DIALECTS_SEQ_OPS_REDUCE_TD
#define EFFC_DIALECTS_SEQ_OPS_REDUCE_TD

include "dialects/seq/SeqAttributes.td"

def Seq_ReduceOp : Seq_ValueOp<"reduce"> {
  let summary = "Combine the elements along one axis";
  let description = [{
    ```
    y[i, k] = sum or max over j of x[i, j, k],  j on `axis`
    ```

    A sum adds in the order of `j`. The largest of elements of which one is NaN
    is NaN.

    Constraints:

    * (REDUCE1) `axis` is an axis of `x` of static extent.
    * (REDUCE2) `y` has the shape of `x` without `axis`.

    Example:

    ```mlir
    %total = seq.reduce sum %x {axis = 1 : i64} : tensor<?x6x5xf32> -> tensor<?x5xf32>
    ```
  }];
  let arguments = (ins
    Seq_ReduceKindAttr:$kind,
    Seq_Tensor:$x,
    I64Attr:$axis);                         /*reduce1*/
  let results = (outs Seq_Tensor:$y);       /*reduce2*/
  let assemblyFormat = "$kind $x attr-dict `:` type($x) `->` type($y)";
  let builders = [
    OpBuilder<(ins "::effc::seq::ReduceKind":$kind, "::mlir::Value":$x,
                   "int64_t":$axis)>
  ];
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_OPS_REDUCE_TD
