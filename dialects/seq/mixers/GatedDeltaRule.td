// The delta rule with a decay per head.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_GATEDDELTARULE_TD
#define EFFC_DIALECTS_SEQ_MIXERS_GATEDDELTARULE_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_GatedDeltaRuleOp : Seq_LinearMixerOp<"gated_delta_rule", 5, 2> {
  let summary = "Gated delta rule: a decay per head, then a correction along the key";
  let description = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h` of group `g = h / (H / G)`
    (rounded down), with `S` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      log_decay = -exp(a_log[h]) * softplus(a[t,h] + dt_bias[h])
      S         = exp(log_decay) * S
      S         = S + beta[t,h] * k[t,g,:] (x) (v[t,h,:] - k[t,g,:] @ S)
      y[t,h,:]  = scale * q[t,g,:] @ S
    next_state[h] = S
    ```

    `(x)` is the outer product, `@` the product of a vector and a matrix. The state
    before the first token of a sequence is 0.

    | value        | shape   | element | meaning                             |
    |--------------|---------|---------|-------------------------------------|
    | `q`          | `T,G,K` | f32     | queries, one per group of heads     |
    | `k`          | `T,G,K` | f32     | keys, one per group of heads        |
    | `v`          | `T,H,V` | f32     | values                              |
    | `beta`       | `T,H`   | f32     | learning rate, in [0, 1], or [0, 2] |
    | `a`          | `T,H`   | f32     | time step before bias and softplus  |
    | `a_log`      | `H`     | f32     | log of the decay rate               |
    | `dt_bias`    | `H`     | f32     | added to `a`                        |
    | `state`      | `H,K,V` | f32     | state before the tokens             |
    | `y`          | `T,H,V` | f32     | mixed tokens                        |
    | `next_state` | `H,K,V` | f32     | the same after the tokens           |

    `scale` multiplies the query; it is 1 where it is absent.

    `form` is absent until a form is chosen.

    Constraints:

    * (GATED_DELTA_RULE1) `q` is `T,G,K`.
    * (GATED_DELTA_RULE2) `k` is `T,G,K`.
    * (GATED_DELTA_RULE3) `v` is `T,H,V`.
    * (GATED_DELTA_RULE4) `beta` is `T,H`.
    * (GATED_DELTA_RULE5) `a` is `T,H`.
    * (GATED_DELTA_RULE6) `a_log` is `H`.
    * (GATED_DELTA_RULE7) `dt_bias` is `H`.
    * (GATED_DELTA_RULE8) `state` is `H,K,V`, and `next_state` has its type.
    * (GATED_DELTA_RULE9) `y` is `T,H,V`.
    * (GATED_DELTA_RULE10) `G` divides `H`.

    Numerics: with `beta` times the squared length of a key in [0, 2] no transition
    expands. Keys are normalised by an op of their own; where they are not, the state
    may grow without bound, in every form alike.

    Example:

    ```mlir
    %y, %next = seq.gated_delta_rule %q, %k, %v, %beta, %a parameters(%a_log, %dt_bias)
          state(%state) {scale = 5.000000e-01 : f64}
        : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>,
          tensor<?x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6x3x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
    ```

    Source: Yang et al., arXiv:2412.06464, equation 10.
  }];
  let arguments = (ins
    Seq_Tensor:$q,                          /*gated_delta_rule1*/
    Seq_Tensor:$k,                          /*gated_delta_rule2*/
    Seq_Tensor:$v,                          /*gated_delta_rule3*/
    Seq_Tensor:$beta,                       /*gated_delta_rule4*/
    Seq_Tensor:$a,                          /*gated_delta_rule5*/
    Seq_StaticTensor:$a_log,                /*gated_delta_rule6*/
    Seq_StaticTensor:$dt_bias,              /*gated_delta_rule7*/
    Seq_StaticTensor:$state,                /*gated_delta_rule8*/
    DefaultValuedAttr<F64Attr, "1.0">:$scale,
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs
    Seq_Tensor:$y,                          /*gated_delta_rule9*/
    Seq_StaticTensor:$next_state);          /*gated_delta_rule8*/
  let assemblyFormat = [{
    $q `,` $k `,` $v `,` $beta `,` $a
    `parameters` `(` $a_log `,` $dt_bias `)`
    `state` `(` $state `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_GATEDDELTARULE_TD
