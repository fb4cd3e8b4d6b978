// The gated delta rule with gates of its own for what it erases and writes.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_GATEDDELTARULE2_TD
#define EFFC_DIALECTS_SEQ_MIXERS_GATEDDELTARULE2_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_GatedDeltaRule2Op : Seq_LinearMixerOp<"gated_delta_rule_2", [
    Seq_Token<"q", "T,G,K", "queries, one per group of heads">,
    Seq_Token<"k", "T,G,K", "keys, one per group of heads">,
    Seq_Token<"v", "T,H,V", "values">,
    Seq_Token<"erase", "T,G,K", "erase gate, in [0, 1], or [0, 2]">,
    Seq_Token<"write", "T,H,V", "write gate, in [0, 1]">,
    Seq_Token<"f", "T,H,K", "time step before bias and softplus">,
    Seq_Parameter<"a_log", "H", "log of the decay rate">,
    Seq_Parameter<"dt_bias", "H,K", "added to `f`">,
    Seq_State<"state", "H,K,V">]> {
  let summary = "Gated delta rule 2: what a token erases and what it writes have gates of their own";
  let label = "GATED_ERASE"; // a number follows
  let attributes = (ins DefaultValuedAttr<F64Attr, "1.0">:$scale);
  let text = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h` of group `g = h / (H / G)`
    (rounded down), with `S` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      log_decay = -exp(a_log[h]) * softplus(f[t,h,:] + dt_bias[h,:])
      S         = exp(log_decay) (.) S
      S         = S + k[t,g,:] (x) (write[t,h,:] * v[t,h,:] - (erase[t,g,:] * k[t,g,:]) @ S)
      y[t,h,:]  = scale * q[t,g,:] @ S
    next_state[h] = S
    ```

    `(.)` scales each row of the state, `(x)` is the outer product, `@` the product of
    a vector and a matrix. The state before the first token of a sequence is 0. With
    one number for all of `erase` and `write` it is `seq.kimi_delta_attention`.

    $values

    `scale` multiplies the query; it is 1 where it is absent.

    `form` is absent until a form is chosen.

    Constraints:

    $constraints

    Numerics: with `erase` in [0, 2] and keys of length 1 the eigenvalues of a correction
    lie in [-1, 1]. It is no symmetric matrix, so it may stretch some states for a while.
    Keys are normalised by an op of their own; where they are not, the state may grow
    without bound, in every form alike.

    Example:

    ```mlir
    %y, %next = seq.gated_delta_rule_2 %q, %k, %v, %erase, %write, %f
          parameters(%a_log, %dt_bias) state(%state) {scale = 5.000000e-01 : f64}
        : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x2x3xf32>,
          tensor<?x6x5xf32>, tensor<?x6x3xf32>, tensor<6xf32>, tensor<6x3xf32>, tensor<6x3x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
    ```

    Source: Hatamizadeh et al., arXiv:2605.22791, as flash-linear-attention 0.6 has it.
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_GATEDDELTARULE2_TD
