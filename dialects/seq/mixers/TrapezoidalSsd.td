// Mamba-3's recurrence.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_TRAPEZOIDALSSD_TD
#define EFFC_DIALECTS_SEQ_MIXERS_TRAPEZOIDALSSD_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_TrapezoidalSsdOp : Seq_LinearMixerOp<"trapezoidal_ssd", [
    Seq_Token<"x", "T,H,V", "values">,
    Seq_Token<"dt", "T,H", "time step, above 0">,
    Seq_Token<"rate", "T,H", "decay per unit of time, at least 0">,
    Seq_Token<"share", "T,H", "share of the token itself in its step, before the sigmoid">,
    Seq_Token<"b", "T,H,K", "keys">,
    Seq_Token<"c", "T,H,K", "queries">,
    Seq_Token<"x_before", "T,H,V", "`x` of the token before">,
    Seq_Token<"b_before", "T,H,K", "`b` of the token before">,
    Seq_Token<"written_before", "T,H", "`sigmoid(share) * dt` of the token before">,
    Seq_Parameter<"d", "H", "weight of the feed-through">,
    Seq_State<"state", "H,K,V">], hasReadOut=1> {
  let summary = "Trapezoidal SSD: each step writes the mean of a token and the one before";
  let text = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. Each token writes itself and, decayed, the token
    before, in the shares of a trapezoid. For head `h`, with `R` starting at
    `state[h]`:

    ```
    for t in 0 .. T-1:
      share    = sigmoid(share[t,h])
      written  = share * dt[t,h]
      weight   = written_before[t,h] + (1 - share) * dt[t,h]
      R        = exp(-rate[t,h] * dt[t,h]) * (R + weight * b_before[t,h,:] (x) x_before[t,h,:])
      S        = R + written * b[t,h,:] (x) x[t,h,:]
      y[t,h,:] = c[t,h,:] @ S + d[h] * x[t,h,:]
    next_state[h] = R
    ```

    `(x)` is the outer product, `@` the product of a vector and a matrix. `S` is the
    state of the paper. `R` is kept in its place: it lacks what the last token has
    written, which the next one writes together with its own share. So one outer
    product is written per token, and the recurrence is that of `seq.ssd`. What stood
    before each token comes from `seq.token_shift`. The state before the first token
    of a sequence is 0, as is all that stands before that token.

    $values

    `form` is absent until a form is chosen.

    Constraints:

    $constraints

    Example:

    ```mlir
    %y, %next = seq.trapezoidal_ssd %x, %dt, %rate, %share, %b, %c, %x_before, %b_before,
          %written_before parameters(%d) state(%state)
        : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>,
          tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>,
          tensor<?x6xf32>, tensor<6xf32>, tensor<6x3x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
    ```

    Source: Mamba-3 (Lahoti et al., 2026), the exponential-trapezoidal rule, written
    for `R = S - written b (x) x`.
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_TRAPEZOIDALSSD_TD
