// Dynamic mask attention, read as a linear recurrence.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_DYNAMICMASKLINEAR_TD
#define EFFC_DIALECTS_SEQ_MIXERS_DYNAMICMASKLINEAR_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_DynamicMaskLinearOp : Seq_LinearMixerOp<"dynamic_mask_linear", 4, 0> {
  let summary = "Dynamic mask attention without its softmax";
  let description = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h` of group `g = h / (H / G)`
    (rounded down), with `S` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      S        = S + delta[t,h] * k[t,g,:] (x) v[t,h,:]
      y[t,h,:] = q[t,g,:] @ S
    next_state[h] = S
    ```

    `(x)` is the outer product, `@` the product of a vector and a matrix. The number
    of a key scales what it adds for good: nothing decays, and there is neither
    softmax nor scale. The readings with a softmax are `key_score`s of
    `seq.attention`. The state before the first token of a sequence is 0.

    | value        | shape   | element | meaning                         |
    |--------------|---------|---------|---------------------------------|
    | `q`          | `T,G,K` | f32     | queries, one per group of heads |
    | `k`          | `T,G,K` | f32     | keys, one per group of heads    |
    | `v`          | `T,H,V` | f32     | values                          |
    | `delta`      | `T,H`   | f32     | a number per key and head       |
    | `state`      | `H,K,V` | f32     | state before the tokens         |
    | `y`          | `T,H,V` | f32     | mixed tokens                    |
    | `next_state` | `H,K,V` | f32     | the same after the tokens       |

    `form` is absent until a form is chosen.

    Constraints:

    * (DYNAMIC_MASK_LINEAR1) `q` is `T,G,K`.
    * (DYNAMIC_MASK_LINEAR2) `k` is `T,G,K`.
    * (DYNAMIC_MASK_LINEAR3) `v` is `T,H,V`.
    * (DYNAMIC_MASK_LINEAR4) `delta` is `T,H`.
    * (DYNAMIC_MASK_LINEAR5) `state` is `H,K,V`, and `next_state` has its type.
    * (DYNAMIC_MASK_LINEAR6) `y` is `T,H,V`.
    * (DYNAMIC_MASK_LINEAR7) `G` divides `H`.

    Numerics: the state grows with the number of tokens.

    Example:

    ```mlir
    %y, %next = seq.dynamic_mask_linear %q, %k, %v, %delta state(%state)
        : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>,
          tensor<6x3x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
    ```

    Source: Shi and Wu, arXiv:2412.11834, equations 6 and 7 as printed.
  }];
  let arguments = (ins
    Seq_Tensor:$q,                          /*dynamic_mask_linear1*/
    Seq_Tensor:$k,                          /*dynamic_mask_linear2*/
    Seq_Tensor:$v,                          /*dynamic_mask_linear3*/
    Seq_Tensor:$delta,                      /*dynamic_mask_linear4*/
    Seq_StaticTensor:$state,                /*dynamic_mask_linear5*/
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs
    Seq_Tensor:$y,                          /*dynamic_mask_linear6*/
    Seq_StaticTensor:$next_state);          /*dynamic_mask_linear5*/
  let assemblyFormat = [{
    $q `,` $k `,` $v `,` $delta
    `state` `(` $state `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_DYNAMICMASKLINEAR_TD
