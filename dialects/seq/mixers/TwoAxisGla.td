// Gated linear attention along both axes of its state.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_TWOAXISGLA_TD
#define EFFC_DIALECTS_SEQ_MIXERS_TWOAXISGLA_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_TwoAxisGlaOp : Seq_LinearMixerOp<"two_axis_gla", 5, 0> {
  let summary = "Gated linear attention that decays per key and per value channel";
  let description = [{
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
    vector and a matrix. The state before the first token of a sequence is 0.

    | value        | shape   | element | meaning                                    |
    |--------------|---------|---------|--------------------------------------------|
    | `q`          | `T,H,K` | f32     | queries                                    |
    | `k`          | `T,H,K` | f32     | keys                                       |
    | `v`          | `T,H,V` | f32     | values                                     |
    | `key_gate`   | `T,H,K` | f32     | decay of key channels before the sigmoid   |
    | `value_gate` | `T,H,V` | f32     | decay of value channels before the sigmoid |
    | `state`      | `H,K,V` | f32     | state before the tokens                    |
    | `y`          | `T,H,V` | f32     | mixed tokens                               |
    | `next_state` | `H,K,V` | f32     | the same after the tokens                  |

    `scale` multiplies the query; it is 1 where it is absent. `temperature` is 16 where it is absent.

    `form` is absent until a form is chosen.

    Constraints:

    * (TWO_AXIS_GLA1) `q` is `T,H,K`.
    * (TWO_AXIS_GLA2) `k` is `T,H,K`.
    * (TWO_AXIS_GLA3) `v` is `T,H,V`.
    * (TWO_AXIS_GLA4) `key_gate` is `T,H,K`.
    * (TWO_AXIS_GLA5) `value_gate` is `T,H,V`.
    * (TWO_AXIS_GLA6) `state` is `H,K,V`, and `next_state` has its type.
    * (TWO_AXIS_GLA7) `y` is `T,H,V`.
    * (TWO_AXIS_GLA8) `temperature` is finite and above 0.

    Numerics: the logs of the sigmoids are taken as one function; both log-decays are
    at most 0.

    Example:

    ```mlir
    %y, %next = seq.two_axis_gla %q, %k, %v, %key_gate, %value_gate state(%state)
          {scale = 5.000000e-01 : f64, temperature = 1.600000e+01 : f64}
        : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>,
          tensor<?x6x5xf32>, tensor<6x3x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
    ```

    Source: He et al., arXiv:2410.06577, equation 7.
  }];
  let arguments = (ins
    Seq_Tensor:$q,                          /*two_axis_gla1*/
    Seq_Tensor:$k,                          /*two_axis_gla2*/
    Seq_Tensor:$v,                          /*two_axis_gla3*/
    Seq_Tensor:$key_gate,                   /*two_axis_gla4*/
    Seq_Tensor:$value_gate,                 /*two_axis_gla5*/
    Seq_StaticTensor:$state,                /*two_axis_gla6*/
    DefaultValuedAttr<F64Attr, "1.0">:$scale,
    DefaultValuedAttr<F64Attr, "16.0">:$temperature,
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs
    Seq_Tensor:$y,                          /*two_axis_gla7*/
    Seq_StaticTensor:$next_state);          /*two_axis_gla6*/
  let assemblyFormat = [{
    $q `,` $k `,` $v `,` $key_gate `,` $value_gate
    `state` `(` $state `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_TWOAXISGLA_TD
