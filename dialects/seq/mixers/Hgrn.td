// The first HGRN.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_HGRN_TD
#define EFFC_DIALECTS_SEQ_MIXERS_HGRN_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_HgrnOp : Seq_LinearMixerOp<"hgrn", 2, 1> {
  let summary = "HGRN: channels that take in what they forget";
  let description = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h`, with `s` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      f        = lower_bound[h,:] + (1 - lower_bound[h,:]) * sigmoid(forget[t,h,:])
      s        = f * s + (1 - f) * x[t,h,:]
      y[t,h,:] = s
    next_state[h] = s
    ```

    The state is a vector: one key channel, which every token writes and reads. The
    state before the first token of a sequence is 0.

    | value         | shape   | element | meaning                                   |
    |---------------|---------|---------|-------------------------------------------|
    | `x`           | `T,H,V` | f32     | values                                    |
    | `forget`      | `T,H,V` | f32     | forget gate before the sigmoid            |
    | `lower_bound` | `H,V`   | f32     | least value of the forget gate, in [0, 1) |
    | `state`       | `H,1,V` | f32     | state before the tokens                   |
    | `y`           | `T,H,V` | f32     | mixed tokens                              |
    | `next_state`  | `H,1,V` | f32     | the same after the tokens                 |

    `form` is absent until a form is chosen.

    Constraints:

    * (HGRN1) `x` is `T,H,V`.
    * (HGRN2) `forget` is `T,H,V`.
    * (HGRN3) `lower_bound` is `H,V`.
    * (HGRN4) `state` is `H,1,V`, and `next_state` has its type.
    * (HGRN5) `y` is `T,H,V`.

    Numerics: 1 - f is computed as (1 - lower_bound) * sigmoid(-forget), which does
    not cancel where f is near 1.

    Example:

    ```mlir
    %y, %next = seq.hgrn %x, %forget parameters(%lower_bound) state(%state)
        : (tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<6x5xf32>, tensor<6x1x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
    ```

    Source: Qin et al., arXiv:2311.04823, equations 2 to 4.
  }];
  let arguments = (ins
    Seq_Tensor:$x,                          /*hgrn1*/
    Seq_Tensor:$forget,                     /*hgrn2*/
    Seq_StaticTensor:$lower_bound,          /*hgrn3*/
    Seq_StaticTensor:$state,                /*hgrn4*/
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs
    Seq_Tensor:$y,                          /*hgrn5*/
    Seq_StaticTensor:$next_state);          /*hgrn4*/
  let assemblyFormat = [{
    $x `,` $forget
    `parameters` `(` $lower_bound `)`
    `state` `(` $state `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_HGRN_TD
