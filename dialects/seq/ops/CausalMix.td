// A sum of all tokens so far, weighted by pairs of absolute positions.
#ifndef EFFC_DIALECTS_SEQ_OPS_CAUSALMIX_TD
#define EFFC_DIALECTS_SEQ_OPS_CAUSALMIX_TD

include "dialects/seq/SeqAttributes.td"

def Seq_CausalMixOp
    : Seq_ValueOp<"causal_mix", [
        AllTypesMatch<["inputs", "next_inputs"]>,
        DeclareOpInterfaceMethods<Seq_StatefulOpInterface>]> {
  let summary = "Sum all tokens so far with a weight per pair of positions";
  let description = [{
    The token mixing of a masked mixer: a lower triangle of weights over positions,
    the same for all channels.

    ```
    for t in 0 .. T-1:
      p         = positions[t]
      inputs[p] = x[t,:]
      y[t,:]    = sum over s in 0 .. p of weight[p,s] * inputs[s,:]  + bias[p]
    next_inputs = inputs
    ```

    What lies above the diagonal of `weight` has no effect. Unlike a recurrence it
    keeps every token; `T = 1` is the decode case.

    With `M` weights for each pair of positions there are as many sums, of which a
    `seq.channel_convolution` makes a mixer whose kernel is `M` channels wide:

    ```
      y[t,m,:] = sum over s in 0 .. p of weight[p,s,m] * inputs[s,:]
    ```

    Such a weight is a convolution's as PyTorch stores it, over channels with
    positions as its inputs and outputs. A mixer with an expanded convolution (one,
    GELU, another) is two of these ops with a `seq.gelu` between them, each with
    inputs of its own: both matrices are lower triangles of `P,P`.

    | value         | shape | element | meaning                                   |
    |---------------|-------|---------|-------------------------------------------|
    | `x`           | `T,D` | f32     | tokens                                    |
    | `positions`   | `T`   | i32     | positions in the sequence, each one more than the one before |
    | `weight`      | `P,P` or `P,P,M` | f32 | weights of the token at `s` for that at `p` |
    | `bias`        | `P`   | f32     | optional; 0 where absent                  |
    | `inputs`      | `W,D` | f32     | tokens before, position `s` in row `s`    |
    | `y`           | `T,D` or `T,M,D` | f32 | mixed tokens                       |
    | `next_inputs` | `W,D` | f32     | the same after the tokens                 |

    `W` is how many tokens the state has room for. It is free in a model's text:
    when the model is compiled, `seq-size-context` sets it to the longest context,
    which is at most `P`, rounded up to whole blocks of rows, so that `W` may exceed
    `P`. A sequence has at most `min(P, W)` positions. A position past that is an
    error of the call, which the runtime refuses before anything is computed.

    Constraints:

    * (CAUSAL_MIX1) `x` is `T,D`.
    * (CAUSAL_MIX2) `positions` is `T`.
    * (CAUSAL_MIX3) `weight` is `P,P` or `P,P,M`.
    * (CAUSAL_MIX4) `bias`, where present, is `P`, and `weight` is `P,P`: the sums of
      `M` weights have one bias, which the convolution adds.
    * (CAUSAL_MIX5) `inputs` is `W,D`, and `next_inputs` has its type.
    * (CAUSAL_MIX6) `y` is `T,D`, or `T,M,D` where `weight` is `P,P,M`.

    Example:

    ```mlir
    %y, %next = seq.causal_mix %x positions(%p) parameters(%w, %b) state(%inputs)
        : (tensor<?x6xf32>, tensor<?xi32>, tensor<12x12xf32>, tensor<12xf32>,
           tensor<32x6xf32>) -> (tensor<?x6xf32>, tensor<32x6xf32>)
    ```

    Source: Badger, Masked Mixers, arXiv:2409.01482.
  }];
  let arguments = (ins
    Seq_Tensor:$x,                          /*causal_mix1*/
    Seq_Indices:$positions,                 /*causal_mix2*/
    Seq_StaticTensor:$weight,               /*causal_mix3*/
    Optional<Seq_StaticTensor>:$bias,       /*causal_mix4*/
    Seq_StaticTensor:$inputs);              /*causal_mix5*/
  let results = (outs
    Seq_Tensor:$y,                          /*causal_mix6*/
    Seq_StaticTensor:$next_inputs);         /*causal_mix5*/
  let assemblyFormat = [{
    $x `positions` `(` $positions `)` `parameters` `(` $weight (`,` $bias^)? `)`
    `state` `(` $inputs `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_OPS_CAUSALMIX_TD
