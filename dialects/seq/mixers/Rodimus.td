// Rodimus with data-dependent tempered selection.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_RODIMUS_TD
#define EFFC_DIALECTS_SEQ_MIXERS_RODIMUS_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_RodimusOp : Seq_LinearMixerOp<"rodimus", [
    Seq_Token<"q", "T,H,K", "queries">,
    Seq_Token<"k", "T,H,K", "keys">,
    Seq_Token<"v", "T,H,V", "values">,
    Seq_Token<"select", "T,H,K", "selection before softplus">,
    Seq_Token<"temper", "T,H,K", "temperature before the sigmoid">,
    Seq_Token<"x", "T,H,V", "what is fed through">,
    Seq_Parameter<"d", "H,V", "weight of the feed-through">,
    Seq_State<"state", "H,K,V">], hasReadOut=1> {
  let summary = "Rodimus: decay and input gate move against each other";
  let attributes = (ins DefaultValuedAttr<F64Attr, "1.0">:$scale);
  let text = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h`, with `S` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      g        = softplus(select[t,h,:])
      r        = sigmoid(temper[t,h,:])
      S        = exp(-g * r) (.) S + (g^r * k[t,h,:]) (x) v[t,h,:]
      y[t,h,:] = scale * q[t,h,:] @ S + d[h,:] * x[t,h,:]
    next_state[h] = S
    ```

    `(.)` scales each row of the state, `(x)` is the outer product, `@` the product of
    a vector and a matrix. A larger `g` forgets more and takes in more; the
    temperature `r` sets how sharply. The state before the first token of a sequence
    is 0.

    $values

    `scale` multiplies the query; it is 1 where it is absent.

    `form` is absent until a form is chosen.

    Constraints:

    $constraints

    Numerics: the log-decay is at most 0 and has no lower bound. g^r is the
    exponential of r log g, with g = softplus at least 1e-38.

    Example:

    ```mlir
    %y, %next = seq.rodimus %q, %k, %v, %select, %temper, %x parameters(%d)
          state(%state) {scale = 5.000000e-01 : f64}
        : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>,
          tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
    ```

    Source: He et al., arXiv:2410.06577, equations 9 to 11.
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_RODIMUS_TD
