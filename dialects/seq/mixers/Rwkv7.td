// The seventh RWKV.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_RWKV7_TD
#define EFFC_DIALECTS_SEQ_MIXERS_RWKV7_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_Rwkv7Op : Seq_LinearMixerOp<"rwkv7", [
    Seq_Token<"r", "T,H,K", "queries">,
    Seq_Token<"w", "T,H,K", "decay before the sigmoid">,
    Seq_Token<"k", "T,H,K", "keys">,
    Seq_Token<"v", "T,H,V", "values">,
    Seq_Token<"kk", "T,H,K", "keys of length 1 to be corrected">,
    Seq_Token<"a", "T,H,K", "rate of correction, in [0, 1]">,
    Seq_State<"state", "H,K,V">]> {
  let summary = "RWKV7: a decay per key channel and a correction that reads the state before it";
  let text = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h`, with `S` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      log_decay = -exp(-1/2) * sigmoid(w[t,h,:])
      z         = -kk[t,h,:] @ S
      S         = exp(log_decay) (.) S + (kk[t,h,:] * a[t,h,:]) (x) z
                  + k[t,h,:] (x) v[t,h,:]
      y[t,h,:]  = r[t,h,:] @ S
    next_state[h] = S
    ```

    `(.)` scales each row of the state, `(x)` is the outer product, `@` the product of
    a vector and a matrix. The state before the first token of a sequence is 0.

    $values

    `form` is absent until a form is chosen.

    Constraints:

    $constraints

    Numerics: the log-decay lies in (-0.6066, 0), so a decay is at least 0.545.

    Example:

    ```mlir
    %y, %next = seq.rwkv7 %r, %w, %k, %v, %kk, %a state(%state)
        : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>,
          tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<6x3x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
    ```

    Source: Peng et al., arXiv:2503.14456, equations 13 to 17.
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_RWKV7_TD
