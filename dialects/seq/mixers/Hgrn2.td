// HGRN2.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_HGRN2_TD
#define EFFC_DIALECTS_SEQ_MIXERS_HGRN2_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_Hgrn2Op : Seq_LinearMixerOp<"hgrn2", 3, 1> {
  let summary = "HGRN2: key channels that take in what they forget";
  let description = [{
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

    | value         | shape   | element | meaning                                   |
    |---------------|---------|---------|-------------------------------------------|
    | `q`           | `T,H,K` | f32     | queries                                   |
    | `forget`      | `T,H,K` | f32     | forget gate before the sigmoid            |
    | `v`           | `T,H,V` | f32     | values                                    |
    | `lower_bound` | `H,K`   | f32     | least value of the forget gate, in [0, 1) |
    | `state`       | `H,K,V` | f32     | state before the tokens                   |
    | `y`           | `T,H,V` | f32     | mixed tokens                              |
    | `next_state`  | `H,K,V` | f32     | the same after the tokens                 |

    `scale` multiplies the query; it is 1 where it is absent.

    `form` is absent until a form is chosen.

    Constraints:

    * (HGRN21) `q` is `T,H,K`.
    * (HGRN22) `forget` is `T,H,K`.
    * (HGRN23) `v` is `T,H,V`.
    * (HGRN24) `lower_bound` is `H,K`.
    * (HGRN25) `state` is `H,K,V`, and `next_state` has its type.
    * (HGRN26) `y` is `T,H,V`.

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
  let arguments = (ins
    Seq_Tensor:$q,                          /*hgrn21*/
    Seq_Tensor:$forget,                     /*hgrn22*/
    Seq_Tensor:$v,                          /*hgrn23*/
    Seq_StaticTensor:$lower_bound,          /*hgrn24*/
    Seq_StaticTensor:$state,                /*hgrn25*/
    DefaultValuedAttr<F64Attr, "1.0">:$scale,
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs
    Seq_Tensor:$y,                          /*hgrn26*/
    Seq_StaticTensor:$next_state);          /*hgrn25*/
  let assemblyFormat = [{
    $q `,` $forget `,` $v
    `parameters` `(` $lower_bound `)`
    `state` `(` $state `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_HGRN2_TD
