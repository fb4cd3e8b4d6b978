// The convolution of a token's channels with one another.
#ifndef EFFC_DIALECTS_SEQ_OPS_CHANNELCONVOLUTION_TD
#define EFFC_DIALECTS_SEQ_OPS_CHANNELCONVOLUTION_TD

include "dialects/seq/SeqAttributes.td"

def Seq_ChannelConvolutionOp : Seq_ValueOp<"channel_convolution",
                                          [AttrSizedOperandSegments]> {
  let summary = "Mix each channel of a token with its neighbours";
  let description = [{
    A convolution along the channels of each token by itself, with `M` taps of the
    token's own:

    ```
    y[t, d] = bias[t] + sum_{m = 0 .. M-1} weight[t, m] * x[t, d + m - before]
    ```

    where a channel that does not exist is 0. Without `weight` the taps have been
    multiplied already, and `x` has a row for each:

    ```
    y[t, d] = bias[t] + sum_{m = 0 .. M-1} x[t, m, d + m - before]
    ```

    So token mixers whose kernels are wider than one channel are two ops each:

    | mixer                          | ops                                      |
    |--------------------------------|------------------------------------------|
    | structured recurrence, columns | `seq.structured_recurrence` of one head without weights, then this with the `weight`s of the position and `before = M - 1` |
    | masked mixer                   | `seq.causal_mix` with a weight of `P,P,M`, then this without weight and `before = (M - 1) / 2`, rounded down |

    Taps are not flipped, and the second padding is that of a PyTorch convolution
    with `padding="same"`, which for an even `M` has one channel more on the right.
    Weights and bias of absolute positions are rows of tables that `seq.embedding`
    takes; taps that all tokens share are repeated by `seq.broadcast`.

    | value    | shape            | element | meaning                            |
    |----------|------------------|---------|------------------------------------|
    | `x`      | `T,D` or `T,M,D` | f32     | tokens, or a row of each for a tap |
    | `weight` | `T,M`            | f32     | taps of each token                 |
    | `bias`   | `T`              | f32     | optional; 0 where absent           |
    | `y`      | `T,D`            | f32     | mixed tokens                       |

    Constraints:

    * (CHANNEL_CONVOLUTION1) `x` is `T,D` beside a `weight`, else `T,M,D`.
    * (CHANNEL_CONVOLUTION2) `weight`, where present, is `T,M`.
    * (CHANNEL_CONVOLUTION3) `bias`, where present, is `T`.
    * (CHANNEL_CONVOLUTION4) `before` is at least 0 and below `M`.
    * (CHANNEL_CONVOLUTION5) `y` is `T,D`.

    Example:

    ```mlir
    %y = seq.channel_convolution %x weight(%w) bias(%b) {before = 1 : i64}
        : (tensor<?x6xf32>, tensor<?x3xf32>, tensor<?xf32>) -> tensor<?x6xf32>
    ```

    Source: Badger, Masked Mixers, arXiv:2409.01482; Structured Recurrent Mixers.
  }];
  let arguments = (ins
    Seq_Tensor:$x,                          /*channel_convolution1*/
    Optional<Seq_Tensor>:$weight,           /*channel_convolution2*/
    Optional<Seq_Tensor>:$bias,             /*channel_convolution3*/
    I64Attr:$before);                       /*channel_convolution4*/
  let results = (outs Seq_Tensor:$y);       /*channel_convolution5*/
  let assemblyFormat = [{
    $x (`weight` `(` $weight^ `)`)? (`bias` `(` $bias^ `)`)? attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_OPS_CHANNELCONVOLUTION_TD
