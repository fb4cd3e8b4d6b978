// The short causal convolution in front of a mixer.
#ifndef EFFC_DIALECTS_SEQ_OPS_SHORTCONVOLUTION_TD
#define EFFC_DIALECTS_SEQ_OPS_SHORTCONVOLUTION_TD

include "dialects/seq/SeqAttributes.td"

def Seq_ShortConvolutionOp
    : Seq_ValueOp<"short_convolution", [
        AllTypesMatch<["x", "y"]>,
        AllTypesMatch<["tail", "next_tail"]>,
        Seq_WellConditioned,
        DeclareOpInterfaceMethods<Seq_StatefulOpInterface>]> {
  let summary = "Convolve each channel with the last few tokens";
  let description = [{
    A causal convolution of each channel by itself. With `u` the `W - 1` rows of
    `tail` followed by the `T` rows of `x`:

    ```
    y[t, d]         = activation(bias[d] + sum_{w = 0 .. W-1} weight[w, d] * u[t + w, d])
    next_tail[i, d] = u[T + i, d],  i = 0 .. W-2
    ```

    so that the last tap, `W - 1`, multiplies the token itself. `T = 1` is the
    decode case. The tail before the first token of a sequence is 0.

    With `first_channel` the op has some of the tail's `S` channels: channel `d` of
    `x` is channel `first_channel + d` of `tail` and `next_tail`, whose other
    channels pass through. So the channels of one convolution may be computed in
    several places, each of which takes the tail that the one before it leaves.

    | value       | shape   | element | meaning                            |
    |-------------|---------|---------|------------------------------------|
    | `x`         | `T,D`   | f32     | tokens                             |
    | `weight`    | `W,D`   | f32     | taps, the oldest first             |
    | `bias`      | `D`     | f32     | optional; 0 where absent           |
    | `tail`      | `W-1,D` | f32     | inputs before the first token, the oldest first |
    | `y`         | `T,D`   | f32     | convolved tokens                   |
    | `next_tail` | `W-1,D` | f32     | the last `W - 1` inputs            |

    Constraints:

    * (SHORT_CONVOLUTION1) `x` is `T,D`, and `y` has its type.
    * (SHORT_CONVOLUTION2) `weight` is `W,D` with the `D` of `x` and `W` at least 2.
    * (SHORT_CONVOLUTION3) `bias`, where present, is `D`.
    * (SHORT_CONVOLUTION4) `tail` is `W-1,D`, and `next_tail` has its type.
    * (SHORT_CONVOLUTION5) With `first_channel`, which is at least 0, `tail` is
      `W-1,S` instead, with `S` of at least `first_channel + D`.

    Example:

    ```mlir
    %y, %next = seq.short_convolution %x parameters(%w, %b) state(%tail)
        {activation = #seq.activation<silu>}
        : tensor<?x10xf32>, (tensor<4x10xf32>, tensor<10xf32>), tensor<3x10xf32>
    ```
  }];
  let arguments = (ins
    Seq_Tensor:$x,                          /*short_convolution1*/
    Seq_StaticTensor:$weight,               /*short_convolution2*/
    Optional<Seq_StaticTensor>:$bias,       /*short_convolution3*/
    Seq_StaticTensor:$tail,                 /*short_convolution4*/
    DefaultValuedAttr<Seq_ActivationAttr,
                      "::effc::seq::Activation::None">:$activation,
    OptionalAttr<I64Attr>:$first_channel);  /*short_convolution5*/
  let results = (outs Seq_Tensor:$y, Seq_StaticTensor:$next_tail);
  let assemblyFormat = [{
    $x `parameters` `(` $weight (`,` $bias^)? `)` `state` `(` $tail `)`
    attr-dict `:` type($x) `,` `(` type($weight) (`,` type($bias)^)? `)` `,`
    type($tail)
  }];
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_OPS_SHORTCONVOLUTION_TD
