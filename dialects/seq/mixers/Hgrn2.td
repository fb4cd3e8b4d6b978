// HGRN2.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_HGRN2_TD
#define EFFC_DIALECTS_SEQ_MIXERS_HGRN2_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_Hgrn2Op : Seq_LinearMixerOp<"hgrn2", [
    Seq_Token<"q", "T,H,K", "queries">,
    Seq_Token<"forget", "T,H,K", "forget gate before the sigmoid">,
    Seq_Token<"v", "T,H,V", "values">,
    Seq_Parameter<"lower_bound", "H,K", "least value of the forget gate, in [0, 1)">,
    Seq_State<"state", "H,K,V">]> {
  let summary = "HGRN2: key channels that take in what they forget";
  let attributes = (ins DefaultValuedAttr<F64Attr, "1.0">:$scale);
  let text = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h`, with `S` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      f        = lower_bound[h,:] + (1 - lower_bound[h,:]) * sigmoid(forget[t,h,:])
      S        = f (.) S + (1 - f) (x) v[t,h,:]
      y[t,h,:] = scale * q[t,h,:] @ S
    next_state[h] = S
    ```

    `(.)` scales each row of the state, `(x)` is the outer product, `@` the product of
    a vector and a matrix. The state before the first token of a sequence is 0.

    $values

    `scale` multiplies the query; it is 1 where it is absent.

    `form` is absent until a form is chosen.

    Constraints:

    $constraints

    Numerics: 1 - f is computed as (1 - lower_bound) * sigmoid(-forget), which does
    not cancel where f is near 1.

    Example:

    ```mlir
    %y, %next = seq.hgrn2 %q, %forget, %v parameters(%lower_bound) state(%state) {scale
          = 5.000000e-01 : f64}
        : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<6x3xf32>,
          tensor<6x3x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
    ```

    Source: Qin et al., arXiv:2404.07904, equations 3 to 5.
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_HGRN2_TD
