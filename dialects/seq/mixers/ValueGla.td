// Gated linear attention along the value axis.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_VALUEGLA_TD
#define EFFC_DIALECTS_SEQ_MIXERS_VALUEGLA_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_ValueGlaOp : Seq_LinearMixerOp<"value_gla", 4, 0> {
  let summary = "Gated linear attention that decays per value channel";
  let description = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h`, with `S` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      b        = sigmoid(gate[t,h,:])^(1 / temperature)
      S        = S (.) b + k[t,h,:] (x) v[t,h,:]
      y[t,h,:] = scale * q[t,h,:] @ S
    next_state[h] = S
    ```

    `(.)` scales each column of the state, `(x)` is the outer product, `@` the product
    of a vector and a matrix. The state before the first token of a sequence is 0.

    | value        | shape   | element | meaning                   |
    |--------------|---------|---------|---------------------------|
    | `q`          | `T,H,K` | f32     | queries                   |
    | `k`          | `T,H,K` | f32     | keys                      |
    | `v`          | `T,H,V` | f32     | values                    |
    | `gate`       | `T,H,V` | f32     | decay before the sigmoid  |
    | `state`      | `H,K,V` | f32     | state before the tokens   |
    | `y`          | `T,H,V` | f32     | mixed tokens              |
    | `next_state` | `H,K,V` | f32     | the same after the tokens |

    `scale` multiplies the query; it is 1 where it is absent. `temperature` is 16 where it is absent.

    `form` is absent until a form is chosen.

    Constraints:

    * (VALUE_GLA1) `q` is `T,H,K`.
    * (VALUE_GLA2) `k` is `T,H,K`.
    * (VALUE_GLA3) `v` is `T,H,V`.
    * (VALUE_GLA4) `gate` is `T,H,V`.
    * (VALUE_GLA5) `state` is `H,K,V`, and `next_state` has its type.
    * (VALUE_GLA6) `y` is `T,H,V`.
    * (VALUE_GLA7) `temperature` is finite and above 0.

    Numerics: the log of the sigmoid is taken as one function, so that a gate near 1
    keeps its small log-decay and one near 0 stays finite.

    Example:

    ```mlir
    %y, %next = seq.value_gla %q, %k, %v, %gate state(%state) {scale = 5.000000e-01 :
          f64, temperature = 1.600000e+01 : f64}
        : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x5xf32>,
          tensor<6x3x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
    ```

    Source: He et al., arXiv:2410.06577, equation 7 with one axis.
  }];
  let arguments = (ins
    Seq_Tensor:$q,                          /*value_gla1*/
    Seq_Tensor:$k,                          /*value_gla2*/
    Seq_Tensor:$v,                          /*value_gla3*/
    Seq_Tensor:$gate,                       /*value_gla4*/
    Seq_StaticTensor:$state,                /*value_gla5*/
    DefaultValuedAttr<F64Attr, "1.0">:$scale,
    DefaultValuedAttr<F64Attr, "16.0">:$temperature,
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs
    Seq_Tensor:$y,                          /*value_gla6*/
    Seq_StaticTensor:$next_state);          /*value_gla5*/
  let assemblyFormat = [{
    $q `,` $k `,` $v `,` $gate
    `state` `(` $state `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_VALUEGLA_TD
