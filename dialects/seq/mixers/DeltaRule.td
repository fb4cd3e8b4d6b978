// The delta rule.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_DELTARULE_TD
#define EFFC_DIALECTS_SEQ_MIXERS_DELTARULE_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_DeltaRuleOp : Seq_LinearMixerOp<"delta_rule", 4, 0> {
  let summary = "Delta rule: each token corrects what its key reads";
  let description = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h` of group `g = h / (H / G)`
    (rounded down), with `S` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      S        = S + beta[t,h] * k[t,g,:] (x) (v[t,h,:] - k[t,g,:] @ S)
      y[t,h,:] = scale * q[t,g,:] @ S
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
    | `state`      | `H,K,V` | f32     | state before the tokens             |
    | `y`          | `T,H,V` | f32     | mixed tokens                        |
    | `next_state` | `H,K,V` | f32     | the same after the tokens           |

    `scale` multiplies the query; it is 1 where it is absent.

    `form` is absent until a form is chosen.

    Constraints:

    * (DELTA_RULE1) `q` is `T,G,K`.
    * (DELTA_RULE2) `k` is `T,G,K`.
    * (DELTA_RULE3) `v` is `T,H,V`.
    * (DELTA_RULE4) `beta` is `T,H`.
    * (DELTA_RULE5) `state` is `H,K,V`, and `next_state` has its type.
    * (DELTA_RULE6) `y` is `T,H,V`.
    * (DELTA_RULE7) `G` divides `H`.

    Numerics: with `beta` times the squared length of a key in [0, 2] no transition
    expands. Keys are normalised by an op of their own; where they are not, the state
    may grow without bound, in every form alike.

    Example:

    ```mlir
    %y, %next = seq.delta_rule %q, %k, %v, %beta state(%state) {scale = 5.000000e-01 :
          f64}
        : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>,
          tensor<6x3x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
    ```

    Source: Schlag et al., arXiv:2102.11174; Yang et al., arXiv:2406.06484.
  }];
  let arguments = (ins
    Seq_Tensor:$q,                          /*delta_rule1*/
    Seq_Tensor:$k,                          /*delta_rule2*/
    Seq_Tensor:$v,                          /*delta_rule3*/
    Seq_Tensor:$beta,                       /*delta_rule4*/
    Seq_StaticTensor:$state,                /*delta_rule5*/
    DefaultValuedAttr<F64Attr, "1.0">:$scale,
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs
    Seq_Tensor:$y,                          /*delta_rule6*/
    Seq_StaticTensor:$next_state);          /*delta_rule5*/
  let assemblyFormat = [{
    $q `,` $k `,` $v `,` $beta
    `state` `(` $state `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_DELTARULE_TD
