// The channels of a token in a constant order.
#ifndef EFFC_DIALECTS_SEQ_OPS_PERMUTECHANNELS_TD
#define EFFC_DIALECTS_SEQ_OPS_PERMUTECHANNELS_TD

include "dialects/seq/SeqAttributes.td"

def Seq_PermuteChannelsOp
    : Seq_ValueOp<"permute_channels", [AllTypesMatch<["x", "y"]>, Seq_WellConditioned]> {
  let summary = "Put the channels of each token into a constant order";
  let description = [{
    ```
    y[t, d] = x[t, order[d]]
    ```

    | value   | shape | element | meaning                              |
    |---------|-------|---------|--------------------------------------|
    | `x`     | `T,D` | f32     | tokens                               |
    | `order` | `D`   | f32     | whole numbers from 0 to `D - 1`      |
    | `y`     | `T,D` | f32     | the same channels, or some of them several times |

    `order` is a weight, so its numbers are f32, of which each whole number up to 2^24
    is one. A number that is not whole, or outside `[0, D)`, is an error of the model;
    kernels then give some channel of the token, or 0.

    Matrices that were quantised in an order of activations have inputs of one scale
    apart from each other. Their columns are stored scale by scale, and this op brings
    what they are multiplied by into the same order.

    Constraints:

    * (PERMUTE_CHANNELS1) `x` is `T,D`.
    * (PERMUTE_CHANNELS2) `order` is `D`.
    * (PERMUTE_CHANNELS3) `D` is at most 2^24.

    Example:

    ```mlir
    %y = seq.permute_channels %x by %order : tensor<?x6xf32>, tensor<6xf32>
    ```

    Source: `g_idx` of GPTQ's checkpoints with `desc_act`; Frantar et al.,
    arXiv:2210.17323.
  }];
  let arguments = (ins
    Seq_Tensor:$x,                          /*permute_channels1*/
    Seq_StaticTensor:$order);               /*permute_channels2, permute_channels3*/
  let results = (outs Seq_Tensor:$y);
  let assemblyFormat = [{
    $x `by` $order attr-dict `:` type($x) `,` type($order)
  }];
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_OPS_PERMUTECHANNELS_TD
