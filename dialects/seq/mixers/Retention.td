// Retention and lightning attention.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_RETENTION_TD
#define EFFC_DIALECTS_SEQ_MIXERS_RETENTION_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_RetentionOp : Seq_LinearMixerOp<"retention", [
    Seq_Token<"q", "T,G,K", "queries, one per group of heads">,
    Seq_Token<"k", "T,G,K", "keys, one per group of heads">,
    Seq_Token<"v", "T,H,V", "values">,
    Seq_Parameter<"log_decay", "H", "log of the decay per token, nats, at most 0">,
    Seq_State<"state", "H,K,V">]> {
  let summary = "Retention: a state that decays by one constant per head";
  let attributes = (ins DefaultValuedAttr<F64Attr, "1.0">:$scale);
  let text = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h` of group `g = h / (H / G)`
    (rounded down), with `S` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      S        = exp(log_decay[h]) * S + k[t,g,:] (x) v[t,h,:]
      y[t,h,:] = scale * q[t,g,:] @ S
    next_state[h] = S
    ```

    `(x)` is the outer product, `@` the product of a vector and a matrix. The state
    before the first token of a sequence is 0. The schedules of RetNet and of
    the lightning families differ in how `log_decay` follows from head and layer.

    $values

    `scale` multiplies the query; it is 1 where it is absent.

    `form` is absent until a form is chosen.

    Constraints:

    $constraints

    Numerics: with a decay close to 1 the state grows to 1 / (1 - decay) times what
    one token writes.

    Example:

    ```mlir
    %y, %next = seq.retention %q, %k, %v parameters(%log_decay) state(%state) {scale =
          5.000000e-01 : f64}
        : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<6xf32>,
          tensor<6x3x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
    ```

    Source: Sun et al., arXiv:2307.08621; Qin et al., arXiv:2401.04658.
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_RETENTION_TD
