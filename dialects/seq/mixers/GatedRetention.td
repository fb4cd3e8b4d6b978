// Retention whose decay depends on the data.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_GATEDRETENTION_TD
#define EFFC_DIALECTS_SEQ_MIXERS_GATEDRETENTION_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_GatedRetentionOp : Seq_LinearMixerOp<"gated_retention", 4, 0> {
  let summary = "Gated retention: a state that decays by a gate per head";
  let description = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h` of group `g = h / (H / G)`
    (rounded down), with `S` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      log_decay = log(sigmoid(gate[t,h])) / temperature
      S         = exp(log_decay) * S + k[t,g,:] (x) v[t,h,:]
      y[t,h,:]  = scale * q[t,g,:] @ S
    next_state[h] = S
    ```

    `(x)` is the outer product, `@` the product of a vector and a matrix. The state
    before the first token of a sequence is 0.

    | value        | shape   | element | meaning                         |
    |--------------|---------|---------|---------------------------------|
    | `q`          | `T,G,K` | f32     | queries, one per group of heads |
    | `k`          | `T,G,K` | f32     | keys, one per group of heads    |
    | `v`          | `T,H,V` | f32     | values                          |
    | `gate`       | `T,H`   | f32     | decay before the sigmoid        |
    | `state`      | `H,K,V` | f32     | state before the tokens         |
    | `y`          | `T,H,V` | f32     | mixed tokens                    |
    | `next_state` | `H,K,V` | f32     | the same after the tokens       |

    `scale` multiplies the query; it is 1 where it is absent. `temperature` is 16 where it is absent.

    `form` is absent until a form is chosen.

    Constraints:

    * (GATED_RETENTION1) `q` is `T,G,K`.
    * (GATED_RETENTION2) `k` is `T,G,K`.
    * (GATED_RETENTION3) `v` is `T,H,V`.
    * (GATED_RETENTION4) `gate` is `T,H`.
    * (GATED_RETENTION5) `state` is `H,K,V`, and `next_state` has its type.
    * (GATED_RETENTION6) `y` is `T,H,V`.
    * (GATED_RETENTION7) `G` divides `H`.
    * (GATED_RETENTION8) `temperature` is finite and above 0.

    Numerics: the log of the sigmoid is taken as one function, so that a gate near 1
    keeps its small log-decay and one near 0 stays finite.

    Example:

    ```mlir
    %y, %next = seq.gated_retention %q, %k, %v, %gate state(%state) {scale =
          5.000000e-01 : f64, temperature = 1.600000e+01 : f64}
        : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>,
          tensor<6x3x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
    ```

    Source: Sun et al., arXiv:2405.05254, equation 5.
  }];
  let arguments = (ins
    Seq_Tensor:$q,                          /*gated_retention1*/
    Seq_Tensor:$k,                          /*gated_retention2*/
    Seq_Tensor:$v,                          /*gated_retention3*/
    Seq_Tensor:$gate,                       /*gated_retention4*/
    Seq_StaticTensor:$state,                /*gated_retention5*/
    DefaultValuedAttr<F64Attr, "1.0">:$scale,
    DefaultValuedAttr<F64Attr, "16.0">:$temperature,
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs
    Seq_Tensor:$y,                          /*gated_retention6*/
    Seq_StaticTensor:$next_state);          /*gated_retention5*/
  let assemblyFormat = [{
    $q `,` $k `,` $v `,` $gate
    `state` `(` $state `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_GATEDRETENTION_TD
