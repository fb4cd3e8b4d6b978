// Gated linear attention.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_GLA_TD
#define EFFC_DIALECTS_SEQ_MIXERS_GLA_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_GlaOp : Seq_LinearMixerOp<"gla", 4, 0> {
  let summary = "Gated linear attention: a state that decays per key channel";
  let description = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h`, with `S` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      log_decay = log(sigmoid(gate[t,h,:])) / temperature
      S         = exp(log_decay) (.) S + k[t,h,:] (x) v[t,h,:]
      y[t,h,:]  = scale * q[t,h,:] @ S
    next_state[h] = S
    ```

    `(.)` scales each row of the state, `(x)` is the outer product, `@` the product of
    a vector and a matrix. The state before the first token of a sequence is 0.

    | value        | shape   | element | meaning                   |
    |--------------|---------|---------|---------------------------|
    | `q`          | `T,H,K` | f32     | queries                   |
    | `k`          | `T,H,K` | f32     | keys                      |
    | `v`          | `T,H,V` | f32     | values                    |
    | `gate`       | `T,H,K` | f32     | decay before the sigmoid  |
    | `state`      | `H,K,V` | f32     | state before the tokens   |
    | `y`          | `T,H,V` | f32     | mixed tokens              |
    | `next_state` | `H,K,V` | f32     | the same after the tokens |

    `scale` multiplies the query; it is 1 where it is absent. `temperature` is 16 where it is absent.

    `form` is absent until a form is chosen.

    Constraints:

    * (GLA1) `q` is `T,H,K`.
    * (GLA2) `k` is `T,H,K`.
    * (GLA3) `v` is `T,H,V`.
    * (GLA4) `gate` is `T,H,K`.
    * (GLA5) `state` is `H,K,V`, and `next_state` has its type.
    * (GLA6) `y` is `T,H,V`.
    * (GLA7) `temperature` is finite and above 0.

    Numerics: the log of the sigmoid is taken as one function, so that a gate near 1
    keeps its small log-decay and one near 0 stays finite.

    Example:

    ```mlir
    %y, %next = seq.gla %q, %k, %v, %gate state(%state) {scale = 5.000000e-01 : f64,
          temperature = 1.600000e+01 : f64}
        : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>,
          tensor<6x3x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
    ```

    Source: Yang et al., arXiv:2312.06635, equation 3.
  }];
  let arguments = (ins
    Seq_Tensor:$q,                          /*gla1*/
    Seq_Tensor:$k,                          /*gla2*/
    Seq_Tensor:$v,                          /*gla3*/
    Seq_Tensor:$gate,                       /*gla4*/
    Seq_StaticTensor:$state,                /*gla5*/
    DefaultValuedAttr<F64Attr, "1.0">:$scale,
    DefaultValuedAttr<F64Attr, "16.0">:$temperature,
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs
    Seq_Tensor:$y,                          /*gla6*/
    Seq_StaticTensor:$next_state);          /*gla5*/
  let assemblyFormat = [{
    $q `,` $k `,` $v `,` $gate
    `state` `(` $state `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_GLA_TD
