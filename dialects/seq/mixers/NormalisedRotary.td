// Linear attention of turned keys over a denominator of unturned ones.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_NORMALISEDROTARY_TD
#define EFFC_DIALECTS_SEQ_MIXERS_NORMALISEDROTARY_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_NormalisedRotaryOp : Seq_LinearMixerOp<"normalised_rotary", [
    Seq_Token<"turned_q", "T,G,K", "queries, turned by their positions">,
    Seq_Token<"turned_k", "T,G,K", "keys, turned by their positions">,
    Seq_Token<"q", "T,G,K", "queries, one per group of heads">,
    Seq_Token<"k", "T,G,K", "keys, one per group of heads">,
    Seq_Token<"v", "T,H,V", "values">,
    Seq_Token<"dt", "T,H", "time step before bias and softplus">,
    Seq_Parameter<"a_log", "H", "log of the decay rate">,
    Seq_Parameter<"dt_bias", "H", "added to `dt`">,
    Seq_State<"state", "H,K,V">,
    Seq_SumState<"sum", "H,K", "sum of the keys before the tokens">], hasReadOut=1, hasRules=1> {
  let summary = "Rotary linear attention over an unturned denominator";
  let attributes = (ins F64Attr:$eps);  /*normalised_rotary13*/
  let text = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h` of group `g = h / (H / G)`
    (rounded down), with `S` and `z` starting at `state[h]` and `sum[h]`:

    ```
    for t in 0 .. T-1:
      decay    = exp(-exp(a_log[h]) * softplus(dt[t,h] + dt_bias[h]))
      S        = decay * S + turned_k[t,g,:] (x) v[t,h,:]
      z        = decay * z + k[t,g,:]
      y[t,h,:] = turned_q[t,g,:] @ S / (q[t,g,:] @ z + eps)
    next_state[h] = S, next_sum[h] = z
    ```

    `(x)` is the outer product, `@` the product of a vector and a matrix. Queries and
    keys are not negative, which their feature maps see to; `turned_q` and `turned_k`
    are the same after `seq.rotary`, and may have any sign. A denominator of turned
    ones could be 0. The state before the first token of a sequence is 0.

    $values

    `form` is absent until a form is chosen.

    Constraints:

    $constraints
    * (NORMALISED_ROTARY13) `eps` is finite and above 0.

    Numerics: every log-decay is at most 0. A denominator near 0 makes the quotient
    large, hence `eps`.

    Example:

    ```mlir
    %y, %next_state, %next_sum = seq.normalised_rotary %tq, %tk, %q, %k, %v, %dt
          parameters(%a_log, %dt_bias) state(%state, %sum) {eps = 1.0e-6 : f64}
        : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>,
          tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<6xf32>, tensor<6xf32>,
          tensor<6x3x5xf32>, tensor<6x3xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>)
    ```

    Source: Shi and Wu, arXiv:2412.11834, equation 4.
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_NORMALISEDROTARY_TD
