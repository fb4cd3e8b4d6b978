// The fourth RWKV.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_RWKV4_TD
#define EFFC_DIALECTS_SEQ_MIXERS_RWKV4_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_Rwkv4Op : Seq_LinearMixerOp<"rwkv4", [
    Seq_Token<"k", "T,H,V", "log of the weight of a value">,
    Seq_Token<"v", "T,H,V", "values">,
    Seq_Parameter<"w", "H,V", "log-decay per token, nats, at most 0">,
    Seq_Parameter<"u", "H,V", "bonus of the token itself">,
    Seq_State<"state", "H,1,V">,
    Seq_SumState<"sum", "H,1,V", "sum of the weights before the tokens">,
    Seq_MaximumState<"maximum", "H,V", "-1e38">], hasReadOut=1> {
  let summary = "RWKV4: a weighted mean over the tokens so far, per channel";
  let text = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h`, with `a`, `b` and `p`
    starting at `state[h]`, `sum[h]` and `maximum[h]`:

    ```
    for t in 0 .. T-1:
      m        = max(p, u[h,:] + k[t,h,:])
      own      = exp(u[h,:] + k[t,h,:] - m)
      y[t,h,:] = (exp(p - m) * a + own * v[t,h,:]) / (exp(p - m) * b + own)
      p'       = max(p + w[h,:], k[t,h,:])
      a        = exp(p + w[h,:] - p') * a + exp(k[t,h,:] - p') * v[t,h,:]
      b        = exp(p + w[h,:] - p') * b + exp(k[t,h,:] - p')
      p        = p'
    next_state[h] = a, next_sum[h] = b, next_maximum[h] = p
    ```

    The states are vectors: one key channel, which every token writes and reads.
    Before the first token of a sequence `a` and `b` are 0 and `p` is -1e38.

    $values

    `form` is absent until a form is chosen.

    Constraints:

    $constraints

    Numerics: both sums are kept divided by exp(p), so that no weight overflows.

    Example:

    ```mlir
    %y, %next_state, %next_sum, %next_maximum = seq.rwkv4 %k, %v parameters(%w, %u)
          state(%state, %sum, %maximum)
        : (tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>,
          tensor<6x1x5xf32>, tensor<6x1x5xf32>, tensor<6x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>, tensor<6x5xf32>)
    ```

    Source: Peng et al., arXiv:2305.13048, equations 19 to 24 of its appendix.
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_RWKV4_TD
