// Attention without softmax, over its denominator.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_NORMALISEDATTENTION_TD
#define EFFC_DIALECTS_SEQ_MIXERS_NORMALISEDATTENTION_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_NormalisedAttentionOp : Seq_LinearMixerOp<"normalised_attention", [
    Seq_Token<"q", "T,G,K", "queries, one per group of heads">,
    Seq_Token<"k", "T,G,K", "keys, one per group of heads">,
    Seq_Token<"v", "T,H,V", "values">,
    Seq_State<"state", "H,K,V">,
    Seq_SumState<"sum", "H,K", "sum of the keys before the tokens">], hasReadOut=1> {
  let summary = "Linear attention with its denominator";
  let attributes = (ins
    DefaultValuedAttr<F64Attr, "1.0">:$scale,
    F64Attr:$eps);
  let text = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h` of group `g = h / (H / G)`
    (rounded down), with `S` and `z` starting at
    `state[h]` and `sum[h]`:

    ```
    for t in 0 .. T-1:
      S        = S + k[t,g,:] (x) v[t,h,:]
      z        = z + k[t,g,:]
      y[t,h,:] = scale * q[t,g,:] @ S / (scale * q[t,g,:] @ z + eps)
    next_state[h] = S, next_sum[h] = z
    ```

    `(x)` is the outer product, `@` the product of a vector and a matrix. The state
    before the first token of a sequence is 0. Queries and keys are not negative, which
    their feature maps see to.

    $values

    `scale` multiplies the query; it is 1 where it is absent.

    `form` is absent until a form is chosen.

    Constraints:

    $constraints

    Numerics: a denominator near 0 makes the quotient large; `eps` is added to it as
    the public implementation does.

    Example:

    ```mlir
    %y, %next_state, %next_sum = seq.normalised_attention %q, %k, %v state(%state,
          %sum) {scale = 5.000000e-01 : f64, eps = 1.000000e-10 : f64}
        : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<6x3x5xf32>,
          tensor<6x3xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>)
    ```

    Source: Katharopoulos et al., arXiv:2006.16236, equations 4 to 7.
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_NORMALISEDATTENTION_TD
