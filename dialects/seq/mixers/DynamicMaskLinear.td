// Dynamic mask attention, read as a linear recurrence.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_DYNAMICMASKLINEAR_TD
#define EFFC_DIALECTS_SEQ_MIXERS_DYNAMICMASKLINEAR_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_DynamicMaskLinearOp : Seq_LinearMixerOp<"dynamic_mask_linear", [
    Seq_Token<"q", "T,G,K", "queries, one per group of heads">,
    Seq_Token<"k", "T,G,K", "keys, one per group of heads">,
    Seq_Token<"v", "T,H,V", "values">,
    Seq_Token<"delta", "T,H", "a number per key and head">,
    Seq_State<"state", "H,K,V">]> {
  let summary = "Dynamic mask attention without its softmax";
  let text = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h` of group `g = h / (H / G)`
    (rounded down), with `S` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      S        = S + delta[t,h] * k[t,g,:] (x) v[t,h,:]
      y[t,h,:] = q[t,g,:] @ S
    next_state[h] = S
    ```

    `(x)` is the outer product, `@` the product of a vector and a matrix. The number
    of a key scales what it adds for good: nothing decays, and there is neither
    softmax nor scale. The readings with a softmax are `key_score`s of
    `seq.attention`. The state before the first token of a sequence is 0.

    $values

    `form` is absent until a form is chosen.

    Constraints:

    $constraints

    Numerics: the state grows with the number of tokens.

    Example:

    ```mlir
    %y, %next = seq.dynamic_mask_linear %q, %k, %v, %delta state(%state)
        : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>,
          tensor<6x3x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
    ```

    Source: Shi and Wu, arXiv:2412.11834, equations 6 and 7 as printed.
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_DYNAMICMASKLINEAR_TD
