// Gated linear attention.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_GATEDLINEARATTENTION_TD
#define EFFC_DIALECTS_SEQ_MIXERS_GATEDLINEARATTENTION_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_GatedLinearAttentionOp : Seq_LinearMixerOp<"gated_linear_attention", [
    Seq_Token<"q", "T,H,K", "queries">,
    Seq_Token<"k", "T,H,K", "keys">,
    Seq_Token<"v", "T,H,V", "values">,
    Seq_OptionalToken<"key_gate", "T,H,K", "decay of key channels before the sigmoid">,
    Seq_OptionalToken<"value_gate", "T,H,V", "decay of value channels before the sigmoid">,
    Seq_State<"state", "H,K,V">], hasRules=1> {
  let summary = "Gated linear attention: a state that decays per channel";
  let label = "GLA";
  let attributes = (ins
    DefaultValuedAttr<F64Attr, "1.0">:$scale,
    DefaultValuedAttr<F64Attr, "16.0">:$temperature);  /*gla9*/
  let text = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h`, with `S` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      a        = sigmoid(key_gate[t,h,:])^(1 / temperature)
      b        = sigmoid(value_gate[t,h,:])^(1 / temperature)
      S        = (a (x) b) * S + k[t,h,:] (x) v[t,h,:]
      y[t,h,:] = scale * q[t,h,:] @ S
    next_state[h] = S
    ```

    `(x)` is the outer product, `*` the product of elements, `@` the product of a
    vector and a matrix. A gate that is absent is 1: the state then decays along
    one axis alone. The state before the first token of a sequence is 0.

    $values

    `scale` multiplies the query; it is 1 where it is absent. `temperature` is 16
    where it is absent. `form` is absent until a form is chosen.

    Constraints:

    $constraints
    * (GLA8) At least one gate is present; without one the op is
      `seq.linear_attention`.
    * (GLA9) `temperature` is finite and above 0.

    Numerics: the log of a sigmoid is taken as one function, so that a gate near 1
    keeps its small log-decay and one near 0 stays finite.

    Example:

    ```mlir
    %y, %next = seq.gated_linear_attention %q, %k, %v key_gate(%key_gate)
        state(%state) {scale = 5.000000e-01 : f64, temperature = 1.600000e+01 : f64}
        : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>,
           tensor<?x6x3xf32>, tensor<6x3x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
    ```

    Source: Yang et al., arXiv:2312.06635, equation 3, with the key gate; He et al.,
    arXiv:2410.06577, equation 7, with both.
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_GATEDLINEARATTENTION_TD
