// Mamba-2's mixer.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_SSD_TD
#define EFFC_DIALECTS_SEQ_MIXERS_SSD_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_SsdOp : Seq_LinearMixerOp<"ssd", [
    Seq_Token<"x", "T,H,V", "values">,
    Seq_Token<"dt", "T,H", "time step before bias and softplus">,
    Seq_Token<"b", "T,G,K", "keys, one per group of heads">,
    Seq_Token<"c", "T,G,K", "queries, one per group of heads">,
    Seq_Parameter<"a_log", "H", "log of the decay rate, nats per unit of time">,
    Seq_Parameter<"dt_bias", "H", "added to `dt`">,
    Seq_Parameter<"d", "H", "weight of the feed-through">,
    Seq_State<"state", "H,K,V", "state before the tokens">],
    hasReadOut=1, hasRules=1,
    traits=[AllTypesMatch<["x", "y"]>, AllTypesMatch<["state", "next_state"]>]> {
  let summary = "State-space duality: a state that decays by one scalar per head";
  let attributes = (ins
    OptionalAttr<F64Attr>:$dt_min,  /*ssd11*/
    OptionalAttr<F64Attr>:$dt_max);  /*ssd11*/
  let text = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h` of group `g = h / (H / G)`
    (rounded down), with `S` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      dt'       = clamp(softplus(dt[t,h] + dt_bias[h]), dt_min, dt_max)
      log_decay = -exp(a_log[h]) * dt'
      S         = exp(log_decay) * S + b[t,g,:] (x) (dt' * x[t,h,:])
      y[t,h,:]  = c[t,g,:] @ S + d[h] * x[t,h,:]
    next_state[h] = S
    ```

    `(x)` is the outer product, `@` the product of a vector and a matrix. `T = 1`
    is the decode case; no other op is needed for it. The state before the first
    token of a sequence is 0.

    $values

    `dt_min` and `dt_max` bound the time step; an absent one does not bind.
    `form` is absent until a form is chosen.

    Constraints:

    $constraints
    * (SSD11) `dt_min` and `dt_max`, where present, are not NaN and at least 0,
      and `dt_min` is at most `dt_max`.

    Numerics: the log-decay is at most 0 whatever the data, so the state cannot
    overflow by decay. The exponential of `a_log` is taken in f32.

    Example:

    ```mlir
    %y, %next = seq.ssd %x, %dt, %b, %c parameters(%a_log, %dt_bias, %d)
        state(%s) {dt_max = 0.1 : f64}
        : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x2x3xf32>,
           tensor<?x2x3xf32>), (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>),
          tensor<6x3x5xf32>
    ```

    Source: Dao and Gu, arXiv:2405.21060.
  }];
  let assemblyFormat = [{
    $x `,` $dt `,` $b `,` $c `parameters` `(` $a_log `,` $dt_bias `,` $d `)`
    `state` `(` $state `)` attr-dict `:`
    `(` type($x) `,` type($dt) `,` type($b) `,` type($c) `)` `,`
    `(` type($a_log) `,` type($dt_bias) `,` type($d) `)` `,` type($state)
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_SSD_TD
