// Attention without softmax.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_LINEARATTENTION_TD
#define EFFC_DIALECTS_SEQ_MIXERS_LINEARATTENTION_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_LinearAttentionOp : Seq_LinearMixerOp<"linear_attention", [
    Seq_Token<"q", "T,G,K", "queries, one per group of heads">,
    Seq_Token<"k", "T,G,K", "keys, one per group of heads">,
    Seq_Token<"v", "T,H,V", "values">,
    Seq_State<"state", "H,K,V">]> {
  let summary = "Linear attention: a state that only grows";
  let attributes = (ins DefaultValuedAttr<F64Attr, "1.0">:$scale);
  let text = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h` of group `g = h / (H / G)`
    (rounded down), with `S` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      S        = S + k[t,g,:] (x) v[t,h,:]
      y[t,h,:] = scale * q[t,g,:] @ S
    next_state[h] = S
    ```

    `(x)` is the outer product, `@` the product of a vector and a matrix. The state
    before the first token of a sequence is 0. Feature maps of queries and keys are ops of their own.

    $values

    `scale` multiplies the query; it is 1 where it is absent.

    `form` is absent until a form is chosen.

    Constraints:

    $constraints

    Numerics: the state grows with the number of tokens; what reads it is usually
    normalised. f32 keeps it exact to about 1e-7 of its size.

    Example:

    ```mlir
    %y, %next = seq.linear_attention %q, %k, %v state(%state) {scale = 5.000000e-01 :
          f64}
        : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<6x3x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
    ```

    Source: Katharopoulos et al., arXiv:2006.16236, without its denominator.
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_LINEARATTENTION_TD
