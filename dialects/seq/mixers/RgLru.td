// The real-gated linear recurrent unit of Hawk and Griffin.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_RGLRU_TD
#define EFFC_DIALECTS_SEQ_MIXERS_RGLRU_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_RgLruOp : Seq_LinearMixerOp<"rg_lru", 4, 1> {
  let summary = "RG-LRU: channels that forget by a gate and keep their size";
  let description = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h`, with `s` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      a        = exp(-exponent * sigmoid(recurrence[t,h,:]) * softplus(rate[h,:]))
      a        = 0 where positions[t] = 0
      s        = a * s + sqrt(1 - a^2) * sigmoid(input[t,h,:]) * x[t,h,:]
      y[t,h,:] = s
    next_state[h] = s
    ```

    The state is a vector: one key channel, which every token writes and reads. A
    token at position 0 forgets the state, whatever it is, and is written without a
    multiplier, since sqrt(1 - 0) = 1. Heads are the blocks of the gates' weights,
    which are applied before the op. The state before the first token of a sequence
    is 0.

    | value        | shape   | element | meaning                            |
    |--------------|---------|---------|------------------------------------|
    | `x`          | `T,H,V` | f32     | values                             |
    | `recurrence` | `T,H,V` | f32     | recurrence gate before the sigmoid |
    | `input`      | `T,H,V` | f32     | input gate before the sigmoid      |
    | `positions`  | `T`     | i32     | positions in the sequence          |
    | `rate`       | `H,V`   | f32     | decay rate before softplus         |
    | `state`      | `H,1,V` | f32     | state before the tokens            |
    | `y`          | `T,H,V` | f32     | mixed tokens                       |
    | `next_state` | `H,1,V` | f32     | the same after the tokens          |

    `exponent` is 8 where it is absent. `form` is absent until a form is chosen.

    Constraints:

    * (RG_LRU1) `x` is `T,H,V`.
    * (RG_LRU2) `recurrence` is `T,H,V`.
    * (RG_LRU3) `input` is `T,H,V`.
    * (RG_LRU4) `positions` is `T`.
    * (RG_LRU5) `rate` is `H,V`.
    * (RG_LRU6) `state` is `H,1,V`, and `next_state` has its type.
    * (RG_LRU7) `y` is `T,H,V`.
    * (RG_LRU8) `exponent` is finite and above 0.

    Numerics: 1 - a^2 is computed from log a by a function that does not cancel where
    a is near 1.

    Example:

    ```mlir
    %y, %next = seq.rg_lru %x, %recurrence, %input positions(%p) parameters(%rate)
          state(%state)
        : (tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<?xi32>,
          tensor<6x5xf32>, tensor<6x1x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
    ```

    Source: De et al., arXiv:2402.19427, equations 1 to 4; the first position: the
    public RecurrentGemma.
  }];
  let arguments = (ins
    Seq_Tensor:$x,                          /*rg_lru1*/
    Seq_Tensor:$recurrence,                 /*rg_lru2*/
    Seq_Tensor:$input,                      /*rg_lru3*/
    Seq_Indices:$positions,                 /*rg_lru4*/
    Seq_StaticTensor:$rate,                 /*rg_lru5*/
    Seq_StaticTensor:$state,                /*rg_lru6*/
    DefaultValuedAttr<F64Attr, "8.0">:$exponent,  /*rg_lru8*/
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs
    Seq_Tensor:$y,                          /*rg_lru7*/
    Seq_StaticTensor:$next_state);          /*rg_lru6*/
  let assemblyFormat = [{
    $x `,` $recurrence `,` $input `positions` `(` $positions `)`
    `parameters` `(` $rate `)`
    `state` `(` $state `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_RGLRU_TD
