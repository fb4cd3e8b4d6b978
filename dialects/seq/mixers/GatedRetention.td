// Retention whose decay depends on the data.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_GATEDRETENTION_TD
#define EFFC_DIALECTS_SEQ_MIXERS_GATEDRETENTION_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_GatedRetentionOp : Seq_LinearMixerOp<"gated_retention", [
    Seq_Token<"q", "T,G,K", "queries, one per group of heads">,
    Seq_Token<"k", "T,G,K", "keys, one per group of heads">,
    Seq_Token<"v", "T,H,V", "values">,
    Seq_Token<"gate", "T,H", "decay before the sigmoid">,
    Seq_State<"state", "H,K,V">], hasRules=1> {
  let summary = "Gated retention: a state that decays by a gate per head";
  let attributes = (ins
    DefaultValuedAttr<F64Attr, "1.0">:$scale,
    DefaultValuedAttr<F64Attr, "16.0">:$temperature);
  let text = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h` of group `g = h / (H / G)`
    (rounded down), with `S` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      log_decay = log(sigmoid(gate[t,h])) / temperature
      S         = exp(log_decay) * S + k[t,g,:] (x) v[t,h,:]
      y[t,h,:]  = scale * q[t,g,:] @ S
    next_state[h] = S
    ```

    `(x)` is the outer product, `@` the product of a vector and a matrix. The state
    before the first token of a sequence is 0.

    $values

    `scale` multiplies the query; it is 1 where it is absent. `temperature` is 16 where it is absent.

    `form` is absent until a form is chosen.

    Constraints:

    $constraints
    * (GATED_RETENTION8) `temperature` is finite and above 0.

    Numerics: the log of the sigmoid is taken as one function, so that a gate near 1
    keeps its small log-decay and one near 0 stays finite.

    Example:

    ```mlir
    %y, %next = seq.gated_retention %q, %k, %v, %gate state(%state) {scale =
          5.000000e-01 : f64, temperature = 1.600000e+01 : f64}
        : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>,
          tensor<6x3x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
    ```

    Source: Sun et al., arXiv:2405.05254, equation 5.
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_GATEDRETENTION_TD
