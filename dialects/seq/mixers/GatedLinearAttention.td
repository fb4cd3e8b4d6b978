// Gated linear attention.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_GATEDLINEARATTENTION_TD
#define EFFC_DIALECTS_SEQ_MIXERS_GATEDLINEARATTENTION_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_GatedLinearAttentionOp
    : Seq_LinearMixerOp<"gated_linear_attention", /*tokens=*/3, 0, 0,
                        [AttrSizedOperandSegments]> {
  let summary = "Gated linear attention: a state that decays per channel";
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
    vector and a matrix. A gate that is absent is 1: the state then decays along
    one axis alone. The state before the first token of a sequence is 0.

    | value        | shape   | element | meaning                                        |
    |--------------|---------|---------|------------------------------------------------|
    | `q`          | `T,H,K` | f32     | queries                                        |
    | `k`          | `T,H,K` | f32     | keys                                           |
    | `v`          | `T,H,V` | f32     | values                                         |
    | `key_gate`   | `T,H,K` | f32     | decay of key channels before the sigmoid       |
    | `value_gate` | `T,H,V` | f32     | decay of value channels before the sigmoid     |
    | `state`      | `H,K,V` | f32     | state before the tokens                        |
    | `y`          | `T,H,V` | f32     | mixed tokens                                   |
    | `next_state` | `H,K,V` | f32     | the same after the tokens                      |

    `scale` multiplies the query; it is 1 where it is absent. `temperature` is 16
    where it is absent. `form` is absent until a form is chosen.

    Constraints:

    * (GLA1) `q` is `T,H,K`.
    * (GLA2) `k` is `T,H,K`.
    * (GLA3) `v` is `T,H,V`.
    * (GLA4) `key_gate` is `T,H,K`.
    * (GLA5) `value_gate` is `T,H,V`.
    * (GLA6) `state` is `H,K,V`, and `next_state` has its type.
    * (GLA7) `y` is `T,H,V`.
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
  let arguments = (ins
    Seq_Tensor:$q,                          /*gla1*/
    Seq_Tensor:$k,                          /*gla2*/
    Seq_Tensor:$v,                          /*gla3*/
    Optional<Seq_Tensor>:$key_gate,         /*gla4, gla8*/
    Optional<Seq_Tensor>:$value_gate,       /*gla5, gla8*/
    Seq_StaticTensor:$state,                /*gla6*/
    DefaultValuedAttr<F64Attr, "1.0">:$scale,
    DefaultValuedAttr<F64Attr, "16.0">:$temperature,  /*gla9*/
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs
    Seq_Tensor:$y,                          /*gla7*/
    Seq_StaticTensor:$next_state);          /*gla6*/
  let assemblyFormat = [{
    $q `,` $k `,` $v (`key_gate` `(` $key_gate^ `)`)?
    (`value_gate` `(` $value_gate^ `)`)?
    `state` `(` $state `)` attr-dict `:` functional-type(operands, results)
  }];
  // The gates that are present are tokens too.
  let extraClassDefinition = [{
    ::effc::seq::OperandRole $cppClass::getOperandRole(unsigned index) {
      return ::effc::seq::detail::roleOf(index, getOperation()->getNumOperands() - 1,
                                         /*parameters=*/0);
    }
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_GATEDLINEARATTENTION_TD
