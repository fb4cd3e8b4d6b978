// Linear attention of turned keys over a denominator of unturned ones.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_NORMALISEDROTARY_TD
#define EFFC_DIALECTS_SEQ_MIXERS_NORMALISEDROTARY_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_NormalisedRotaryOp : Seq_LinearMixerOp<"normalised_rotary", 6, 2, 1> {
  let summary = "Rotary linear attention over an unturned denominator";
  let description = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h` of group `g = h / (H / G)`
    (rounded down), with `S` and `z` starting at `state[h]` and `sum[h]`:

    ```
    for t in 0 .. T-1:
      decay    = exp(-exp(a_log[h]) * softplus(dt[t,h] + dt_bias[h]))
      S        = decay * S + turned_k[t,g,:] (x) v[t,h,:]
      z        = decay * z + k[t,g,:]
      y[t,h,:] = turned_q[t,g,:] @ S / (q[t,g,:] @ z + eps)
    next_state[h] = S, next_sum[h] = z
    ```

    `(x)` is the outer product, `@` the product of a vector and a matrix. Queries and
    keys are not negative, which their feature maps see to; `turned_q` and `turned_k`
    are the same after `seq.rotary`, and may have any sign. A denominator of turned
    ones could be 0. The state before the first token of a sequence is 0.

    | value        | shape   | element | meaning                            |
    |--------------|---------|---------|------------------------------------|
    | `turned_q`   | `T,G,K` | f32     | queries, turned by their positions |
    | `turned_k`   | `T,G,K` | f32     | keys, turned by their positions    |
    | `q`          | `T,G,K` | f32     | queries, one per group of heads    |
    | `k`          | `T,G,K` | f32     | keys, one per group of heads       |
    | `v`          | `T,H,V` | f32     | values                             |
    | `dt`         | `T,H`   | f32     | time step before bias and softplus |
    | `a_log`      | `H`     | f32     | log of the decay rate              |
    | `dt_bias`    | `H`     | f32     | added to `dt`                      |
    | `state`      | `H,K,V` | f32     | state before the tokens            |
    | `sum`        | `H,K`   | f32     | sum of the keys before the tokens  |
    | `y`          | `T,H,V` | f32     | mixed tokens                       |
    | `next_state` | `H,K,V` | f32     | the same after the tokens          |
    | `next_sum`   | `H,K`   | f32     | the same after the tokens          |

    `form` is absent until a form is chosen.

    Constraints:

    * (NORMALISED_ROTARY1) `turned_q` is `T,G,K`.
    * (NORMALISED_ROTARY2) `turned_k` is `T,G,K`.
    * (NORMALISED_ROTARY3) `q` is `T,G,K`.
    * (NORMALISED_ROTARY4) `k` is `T,G,K`.
    * (NORMALISED_ROTARY5) `v` is `T,H,V`.
    * (NORMALISED_ROTARY6) `dt` is `T,H`.
    * (NORMALISED_ROTARY7) `a_log` is `H`.
    * (NORMALISED_ROTARY8) `dt_bias` is `H`.
    * (NORMALISED_ROTARY9) `state` is `H,K,V`, and `next_state` has its type.
    * (NORMALISED_ROTARY10) `sum` is `H,K`, and `next_sum` has its type.
    * (NORMALISED_ROTARY11) `y` is `T,H,V`.
    * (NORMALISED_ROTARY12) `G` divides `H`.
    * (NORMALISED_ROTARY13) `eps` is finite and above 0.

    Numerics: every log-decay is at most 0. A denominator near 0 makes the quotient
    large, hence `eps`.

    Example:

    ```mlir
    %y, %next_state, %next_sum = seq.normalised_rotary %tq, %tk, %q, %k, %v, %dt
          parameters(%a_log, %dt_bias) state(%state, %sum) {eps = 1.0e-6 : f64}
        : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>,
          tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6xf32>,
          tensor<6x3x5xf32>, tensor<6x3xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>)
    ```

    Source: Shi and Wu, arXiv:2412.11834, equation 4.
  }];
  let arguments = (ins
    Seq_Tensor:$turned_q,                   /*normalised_rotary1*/
    Seq_Tensor:$turned_k,                   /*normalised_rotary2*/
    Seq_Tensor:$q,                          /*normalised_rotary3*/
    Seq_Tensor:$k,                          /*normalised_rotary4*/
    Seq_Tensor:$v,                          /*normalised_rotary5*/
    Seq_Tensor:$dt,                         /*normalised_rotary6*/
    Seq_StaticTensor:$a_log,                /*normalised_rotary7*/
    Seq_StaticTensor:$dt_bias,              /*normalised_rotary8*/
    Seq_StaticTensor:$state,                /*normalised_rotary9*/
    Seq_StaticTensor:$sum,                  /*normalised_rotary10*/
    F64Attr:$eps,                           /*normalised_rotary13*/
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs
    Seq_Tensor:$y,                          /*normalised_rotary11*/
    Seq_StaticTensor:$next_state,           /*normalised_rotary9*/
    Seq_StaticTensor:$next_sum);            /*normalised_rotary10*/
  let assemblyFormat = [{
    $turned_q `,` $turned_k `,` $q `,` $k `,` $v `,` $dt
    `parameters` `(` $a_log `,` $dt_bias `)`
    `state` `(` $state `,` $sum `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_NORMALISEDROTARY_TD
