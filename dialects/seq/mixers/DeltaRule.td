// The delta rule.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_DELTARULE_TD
#define EFFC_DIALECTS_SEQ_MIXERS_DELTARULE_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_DeltaRuleOp : Seq_LinearMixerOp<"delta_rule", [
    Seq_Token<"q", "T,G,K", "queries, one per group of heads">,
    Seq_Token<"k", "T,G,K", "keys, one per group of heads">,
    Seq_Token<"v", "T,H,V", "values">,
    Seq_Token<"beta", "T,H", "learning rate, in [0, 1], or [0, 2]">,
    Seq_State<"state", "H,K,V">]> {
  let summary = "Delta rule: each token corrects what its key reads";
  let attributes = (ins DefaultValuedAttr<F64Attr, "1.0">:$scale);
  let text = [{
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

    $values

    `scale` multiplies the query; it is 1 where it is absent.

    `form` is absent until a form is chosen.

    Constraints:

    $constraints

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
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_DELTARULE_TD
