// Kimi delta attention.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_KIMIDELTAATTENTION_TD
#define EFFC_DIALECTS_SEQ_MIXERS_KIMIDELTAATTENTION_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_KimiDeltaAttentionOp : Seq_LinearMixerOp<"kimi_delta_attention", 5, 2> {
  let summary = "Kimi delta attention: a decay per key channel, then a correction along the key";
  let description = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h` of group `g = h / (H / G)`
    (rounded down), with `S` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      log_decay = -exp(a_log[h]) * softplus(f[t,h,:] + dt_bias[h,:])
      S         = exp(log_decay) (.) S
      S         = S + beta[t,h] * k[t,g,:] (x) (v[t,h,:] - k[t,g,:] @ S)
      y[t,h,:]  = scale * q[t,g,:] @ S
    next_state[h] = S
    ```

    `(.)` scales each row of the state, `(x)` is the outer product, `@` the product of
    a vector and a matrix. The state before the first token of a sequence is 0.

    | value        | shape   | element | meaning                             |
    |--------------|---------|---------|-------------------------------------|
    | `q`          | `T,G,K` | f32     | queries, one per group of heads     |
    | `k`          | `T,G,K` | f32     | keys, one per group of heads        |
    | `v`          | `T,H,V` | f32     | values                              |
    | `beta`       | `T,H`   | f32     | learning rate, in [0, 1], or [0, 2] |
    | `f`          | `T,H,K` | f32     | time step before bias and softplus  |
    | `a_log`      | `H`     | f32     | log of the decay rate               |
    | `dt_bias`    | `H,K`   | f32     | added to `f`                        |
    | `state`      | `H,K,V` | f32     | state before the tokens             |
    | `y`          | `T,H,V` | f32     | mixed tokens                        |
    | `next_state` | `H,K,V` | f32     | the same after the tokens           |

    `scale` multiplies the query; it is 1 where it is absent.

    `form` is absent until a form is chosen.

    Constraints:

    * (KDA1) `q` is `T,G,K`.
    * (KDA2) `k` is `T,G,K`.
    * (KDA3) `v` is `T,H,V`.
    * (KDA4) `beta` is `T,H`.
    * (KDA5) `f` is `T,H,K`.
    * (KDA6) `a_log` is `H`.
    * (KDA7) `dt_bias` is `H,K`.
    * (KDA8) `state` is `H,K,V`, and `next_state` has its type.
    * (KDA9) `y` is `T,H,V`.
    * (KDA10) `G` divides `H`.

    Numerics: with `beta` times the squared length of a key in [0, 2] no transition
    expands. Keys are normalised by an op of their own; where they are not, the state
    may grow without bound, in every form alike.

    Example:

    ```mlir
    %y, %next = seq.kimi_delta_attention %q, %k, %v, %beta, %f parameters(%a_log, %dt_bias)
          state(%state) {scale = 5.000000e-01 : f64}
        : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>,
          tensor<?x6x3xf32>, tensor<6xf32>, tensor<6x3xf32>, tensor<6x3x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
    ```

    Source: Kimi Team, arXiv:2510.26692, equation 1.
  }];
  let arguments = (ins
    Seq_Tensor:$q,                          /*kda1*/
    Seq_Tensor:$k,                          /*kda2*/
    Seq_Tensor:$v,                          /*kda3*/
    Seq_Tensor:$beta,                       /*kda4*/
    Seq_Tensor:$f,                          /*kda5*/
    Seq_StaticTensor:$a_log,                /*kda6*/
    Seq_StaticTensor:$dt_bias,              /*kda7*/
    Seq_StaticTensor:$state,                /*kda8*/
    DefaultValuedAttr<F64Attr, "1.0">:$scale,
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs
    Seq_Tensor:$y,                          /*kda9*/
    Seq_StaticTensor:$next_state);          /*kda8*/
  let assemblyFormat = [{
    $q `,` $k `,` $v `,` $beta `,` $f
    `parameters` `(` $a_log `,` $dt_bias `)`
    `state` `(` $state `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_KIMIDELTAATTENTION_TD
