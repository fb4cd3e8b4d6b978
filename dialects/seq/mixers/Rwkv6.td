// The sixth RWKV.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_RWKV6_TD
#define EFFC_DIALECTS_SEQ_MIXERS_RWKV6_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_Rwkv6Op : Seq_LinearMixerOp<"rwkv6", [
    Seq_Token<"r", "T,H,K", "queries">,
    Seq_Token<"k", "T,H,K", "keys">,
    Seq_Token<"v", "T,H,V", "values">,
    Seq_Token<"w", "T,H,K", "log of minus the log-decay">,
    Seq_Parameter<"u", "H,K", "bonus of the token itself">,
    Seq_State<"state", "H,K,V">]> {
  let summary = "RWKV6: reads before it writes, with a bonus for the token itself";
  let text = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h`, with `S` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      y[t,h,:] = r[t,h,:] @ (S + (u[h,:] * k[t,h,:]) (x) v[t,h,:])
      S        = exp(-exp(w[t,h,:])) (.) S + k[t,h,:] (x) v[t,h,:]
    next_state[h] = S
    ```

    `(.)` scales each row of the state, `(x)` is the outer product, `@` the product of
    a vector and a matrix. The state before the first token of a sequence is 0.

    $values

    `form` is absent until a form is chosen.

    Constraints:

    $constraints

    Numerics: exp(w) may be large, so that the log-decay has no lower bound; it is
    never subtracted from another.

    Example:

    ```mlir
    %y, %next = seq.rwkv6 %r, %k, %v, %w parameters(%u) state(%state)
        : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>,
          tensor<6x3xf32>, tensor<6x3x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
    ```

    Source: Peng et al., arXiv:2404.05892, equations 18 and 19.
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_RWKV6_TD
