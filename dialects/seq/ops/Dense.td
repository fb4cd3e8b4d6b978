// Products with a matrix of weights.
#ifndef EFFC_DIALECTS_SEQ_OPS_DENSE_TD
#define EFFC_DIALECTS_SEQ_OPS_DENSE_TD

include "dialects/seq/SeqAttributes.td"

def Seq_LinearOp : Seq_ValueOp<"linear", [Seq_Dense, Seq_WholeRows]> {
  let summary = "Multiply each token by a matrix of weights";
  let description = [{
    ```
    y[t, o] = bias[o] + sum_i x[t, i] * weight[o, i]
    ```

    With a matrix for each of `H` blocks of channels, which is a matrix whose other
    blocks are 0:

    ```
    y[t, h, o] = bias[h, o] + sum_i x[t, h, i] * weight[h, o, i]
    ```

    | value    | shape            | element      | meaning                       |
    |----------|------------------|--------------|-------------------------------|
    | `x`      | `T,I` or `T,H,I` | f32          | tokens                        |
    | `weight` | `O,I` or `H,O,I` | f32/bf16/f16 | one row per output, as stored |
    | `bias`   | `O` or `H,O`     | f32          | optional; 0 where absent      |
    | `y`      | `T,O` or `T,H,O` | f32          | products                      |

    Blocks that a checkpoint holds as `H,I,O`, to be multiplied from the left, are a
    `transposed` weight. A gate of RG-LRU is of this kind, and a headwise projection
    of mLSTM is one as it is stored.

    Constraints:

    * (LINEAR1) `x` is `T,I`, or `T,H,I` where `weight` is `H,O,I`.
    * (LINEAR2) `weight` is `O,I`, or `H,O,I`, with the `I` and `H` of `x`.
    * (LINEAR3) `bias`, where present, is `O`, or `H,O`.
    * (LINEAR4) `y` is `T,O`, or `T,H,O`.

    Example:

    ```mlir
    %y = seq.linear %x, %w bias(%b)
        : (tensor<?x6xf32>, tensor<10x6xbf16>, tensor<10xf32>) -> tensor<?x10xf32>
    %gates = seq.linear %blocks, %w1 bias(%b1)
        : (tensor<?x2x3xf32>, tensor<2x5x3xbf16>, tensor<2x5xf32>) -> tensor<?x2x5xf32>
    ```

    Source of the blocks: De et al., Griffin, arXiv:2402.19427, section 2.4.
  }];
  let arguments = (ins
    Seq_Tensor:$x,                          /*linear1*/
    Seq_Matrices:$weight,                   /*linear2*/
    Optional<Seq_StaticTensor>:$bias);      /*linear3*/
  let results = (outs Seq_Tensor:$y);       /*linear4*/
  let assemblyFormat = [{
    $x `,` $weight (`bias` `(` $bias^ `)`)? attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Seq_LmHeadOp : Seq_ValueOp<"lm_head", [Seq_Dense, Seq_WholeRows]> {
  let summary = "Score every token of the vocabulary";
  let description = [{
    ```
    logits[r, n] = sum_d x[r, d] * weight[n, d]
    ```

    | value    | shape | element      | meaning                      |
    |----------|-------|--------------|------------------------------|
    | `x`      | `R,D` | f32          | rows whose logits are wanted |
    | `weight` | `N,D` | f32/bf16/f16 | one row per token id         |
    | `logits` | `R,N` | f32          | scores before the softmax    |

    The product of `seq.linear`, apart from it because it is the only one whose
    result leaves the model and whose rows are chosen by the caller. With tied
    weights `weight` is the embedding's table.

    Constraints:

    * (LM_HEAD1) `x` is `R,D`.
    * (LM_HEAD2) `weight` is `N,D` with the `D` of `x`.
    * (LM_HEAD3) `logits` is `R,N`.

    Example:

    ```mlir
    %logits = seq.lm_head %x, %w
        : (tensor<?x6xf32>, tensor<11x6xbf16>) -> tensor<?x11xf32>
    ```
  }];
  let arguments = (ins
    Seq_Tensor:$x,                          /*lm_head1*/
    Seq_Matrix:$weight);                    /*lm_head2*/
  let results = (outs Seq_Tensor:$logits);  /*lm_head3*/
  let assemblyFormat = [{
    $x `,` $weight attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_OPS_DENSE_TD
