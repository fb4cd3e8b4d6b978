// The selective scan of the first Mamba.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_SELECTIVESCAN_TD
#define EFFC_DIALECTS_SEQ_MIXERS_SELECTIVESCAN_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_SelectiveScanOp : Seq_LinearMixerOp<"selective_scan", [
    Seq_Token<"x", "T,H,V", "values">,
    Seq_Token<"dt", "T,H,V", "time step before bias and softplus">,
    Seq_Token<"b", "T,G,K", "keys">,
    Seq_Token<"c", "T,G,K", "queries">,
    Seq_Parameter<"a_log", "H,K,V", "log of the decay rate">,
    Seq_Parameter<"dt_bias", "H,V", "added to `dt`">,
    Seq_Parameter<"d", "H,V", "weight of the feed-through">,
    Seq_State<"state", "H,K,V">], hasReadOut=1> {
  let summary = "Selective scan: every element of the state decays by itself";
  let text = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h` of group `g = h / (H / G)`
    (rounded down), with `S` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      step      = softplus(dt[t,h,:] + dt_bias[h,:])
      S[k,v]    = exp(-exp(a_log[h,k,v]) * step[v]) * S[k,v]
                  + b[t,g,k] * step[v] * x[t,h,v]
      y[t,h,:]  = c[t,g,:] @ S + d[h,:] * x[t,h,:]
    next_state[h] = S
    ```

    `@` is the product of a vector and a matrix. Mamba has one head, whose value
    channels are the model's; `a_log` is the public tensor transposed. The state
    before the first token of a sequence is 0.

    $values

    `form` is absent until a form is chosen.

    Constraints:

    $constraints

    Numerics: every log-decay is at most 0. One exponential per element and token is
    what the model asks for.

    Example:

    ```mlir
    %y, %next = seq.selective_scan %x, %dt, %b, %c parameters(%a_log, %dt_bias, %d)
          state(%state)
        : (tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>,
          tensor<6x3x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
    ```

    Source: Gu and Dao, arXiv:2312.00752, algorithm 2.
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_SELECTIVESCAN_TD
