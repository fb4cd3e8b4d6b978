// Attention without softmax.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_LINEARATTENTION_TD
#define EFFC_DIALECTS_SEQ_MIXERS_LINEARATTENTION_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_LinearAttentionOp : Seq_LinearMixerOp<"linear_attention", 3, 0> {
  let summary = "Linear attention: a state that only grows";
  let description = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h` of group `g = h / (H / G)`
    (rounded down), with `S` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      S        = S + k[t,g,:] (x) v[t,h,:]
      y[t,h,:] = scale * q[t,g,:] @ S
    next_state[h] = S
    ```

    `(x)` is the outer product, `@` the product of a vector and a matrix. The state
    before the first token of a sequence is 0. Feature maps of queries and keys are ops of their own.

    | value        | shape   | element | meaning                         |
    |--------------|---------|---------|---------------------------------|
    | `q`          | `T,G,K` | f32     | queries, one per group of heads |
    | `k`          | `T,G,K` | f32     | keys, one per group of heads    |
    | `v`          | `T,H,V` | f32     | values                          |
    | `state`      | `H,K,V` | f32     | state before the tokens         |
    | `y`          | `T,H,V` | f32     | mixed tokens                    |
    | `next_state` | `H,K,V` | f32     | the same after the tokens       |

    `scale` multiplies the query; it is 1 where it is absent.

    `form` is absent until a form is chosen.

    Constraints:

    * (LINEAR_ATTENTION1) `q` is `T,G,K`.
    * (LINEAR_ATTENTION2) `k` is `T,G,K`.
    * (LINEAR_ATTENTION3) `v` is `T,H,V`.
    * (LINEAR_ATTENTION4) `state` is `H,K,V`, and `next_state` has its type.
    * (LINEAR_ATTENTION5) `y` is `T,H,V`.
    * (LINEAR_ATTENTION6) `G` divides `H`.

    Numerics: the state grows with the number of tokens; what reads it is usually
    normalised. f32 keeps it exact to about 1e-7 of its size.

    Example:

    ```mlir
    %y, %next = seq.linear_attention %q, %k, %v state(%state) {scale = 5.000000e-01 :
          f64}
        : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<6x3x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
    ```

    Source: Katharopoulos et al., arXiv:2006.16236, without its denominator.
  }];
  let arguments = (ins
    Seq_Tensor:$q,                          /*linear_attention1*/
    Seq_Tensor:$k,                          /*linear_attention2*/
    Seq_Tensor:$v,                          /*linear_attention3*/
    Seq_StaticTensor:$state,                /*linear_attention4*/
    DefaultValuedAttr<F64Attr, "1.0">:$scale,
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs
    Seq_Tensor:$y,                          /*linear_attention5*/
    Seq_StaticTensor:$next_state);          /*linear_attention4*/
  let assemblyFormat = [{
    $q `,` $k `,` $v
    `state` `(` $state `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_LINEARATTENTION_TD
