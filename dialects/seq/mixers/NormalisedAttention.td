// Attention without softmax, over its denominator.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_NORMALISEDATTENTION_TD
#define EFFC_DIALECTS_SEQ_MIXERS_NORMALISEDATTENTION_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_NormalisedAttentionOp : Seq_LinearMixerOp<"normalised_attention", 3, 0, 1> {
  let summary = "Linear attention with its denominator";
  let description = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h` of group `g = h / (H / G)`
    (rounded down), with `S` and `z` starting at
    `state[h]` and `sum[h]`:

    ```
    for t in 0 .. T-1:
      S        = S + k[t,g,:] (x) v[t,h,:]
      z        = z + k[t,g,:]
      y[t,h,:] = scale * q[t,g,:] @ S / (scale * q[t,g,:] @ z + eps)
    next_state[h] = S, next_sum[h] = z
    ```

    `(x)` is the outer product, `@` the product of a vector and a matrix. The state
    before the first token of a sequence is 0. Queries and keys are not negative, which
    their feature maps see to.

    | value        | shape   | element | meaning                           |
    |--------------|---------|---------|-----------------------------------|
    | `q`          | `T,G,K` | f32     | queries, one per group of heads   |
    | `k`          | `T,G,K` | f32     | keys, one per group of heads      |
    | `v`          | `T,H,V` | f32     | values                            |
    | `state`      | `H,K,V` | f32     | state before the tokens           |
    | `sum`        | `H,K`   | f32     | sum of the keys before the tokens |
    | `y`          | `T,H,V` | f32     | mixed tokens                      |
    | `next_state` | `H,K,V` | f32     | the same after the tokens         |
    | `next_sum`   | `H,K`   | f32     | the same after the tokens         |

    `scale` multiplies the query; it is 1 where it is absent.

    `form` is absent until a form is chosen.

    Constraints:

    * (NORMALISED_ATTENTION1) `q` is `T,G,K`.
    * (NORMALISED_ATTENTION2) `k` is `T,G,K`.
    * (NORMALISED_ATTENTION3) `v` is `T,H,V`.
    * (NORMALISED_ATTENTION4) `state` is `H,K,V`, and `next_state` has its type.
    * (NORMALISED_ATTENTION5) `sum` is `H,K`, and `next_sum` has its type.
    * (NORMALISED_ATTENTION6) `y` is `T,H,V`.
    * (NORMALISED_ATTENTION7) `G` divides `H`.

    Numerics: a denominator near 0 makes the quotient large; `eps` is added to it as
    the public implementation does.

    Example:

    ```mlir
    %y, %next_state, %next_sum = seq.normalised_attention %q, %k, %v state(%state,
          %sum) {scale = 5.000000e-01 : f64, eps = 1.000000e-10 : f64}
        : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<6x3x5xf32>,
          tensor<6x3xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>)
    ```

    Source: Katharopoulos et al., arXiv:2006.16236, equations 4 to 7.
  }];
  let arguments = (ins
    Seq_Tensor:$q,                          /*normalised_attention1*/
    Seq_Tensor:$k,                          /*normalised_attention2*/
    Seq_Tensor:$v,                          /*normalised_attention3*/
    Seq_StaticTensor:$state,                /*normalised_attention4*/
    Seq_StaticTensor:$sum,                  /*normalised_attention5*/
    DefaultValuedAttr<F64Attr, "1.0">:$scale,
    F64Attr:$eps,
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs
    Seq_Tensor:$y,                          /*normalised_attention6*/
    Seq_StaticTensor:$next_state,           /*normalised_attention4*/
    Seq_StaticTensor:$next_sum);            /*normalised_attention5*/
  let assemblyFormat = [{
    $q `,` $k `,` $v
    `state` `(` $state `,` $sum `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_NORMALISEDATTENTION_TD
