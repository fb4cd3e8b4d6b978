// A mixer that no paper has and no library of the compiler knows of.
#ifndef EFFC_TEST_NEW_MIXER_LEAKYAVERAGE_TD
#define EFFC_TEST_NEW_MIXER_LEAKYAVERAGE_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_LeakyAverageOp : Seq_LinearMixerOp<"leaky_average", 4, 0> {
  let summary = "Leaky average: a state that forgets as much as it takes in";
  let description = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h`, with `S` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      keep     = sigmoid(gate[t,h])
      S        = keep * S + (1 - keep) * k[t,h,:] (x) v[t,h,:]
      y[t,h,:] = q[t,h,:] @ S
    next_state[h] = S
    ```

    | value        | shape   | element | meaning                      |
    |--------------|---------|---------|------------------------------|
    | `q`          | `T,H,K` | f32     | queries                      |
    | `k`          | `T,H,K` | f32     | keys                         |
    | `v`          | `T,H,V` | f32     | values                       |
    | `gate`       | `T,H`   | f32     | share that is kept, before the sigmoid |
    | `state`      | `H,K,V` | f32     | state before the tokens      |
    | `y`          | `T,H,V` | f32     | mixed tokens                 |
    | `next_state` | `H,K,V` | f32     | the same after the tokens    |

    Constraints:

    * (LEAKY1) `q` and `k` are `T,H,K`.
    * (LEAKY2) `v` and `y` are `T,H,V`.
    * (LEAKY3) `gate` is `T,H`.
    * (LEAKY4) `state` is `H,K,V`, and `next_state` has its type.

    Example:

    ```mlir
    %y, %next = seq.leaky_average %q, %k, %v, %gate state(%state)
        : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x5xf32>, tensor<?x2xf32>,
           tensor<2x3x5xf32>) -> (tensor<?x2x5xf32>, tensor<2x3x5xf32>)
    ```
  }];
  let arguments = (ins
    Seq_Tensor:$q,                /*leaky1*/
    Seq_Tensor:$k,                /*leaky1*/
    Seq_Tensor:$v,                /*leaky2*/
    Seq_Tensor:$gate,             /*leaky3*/
    Seq_StaticTensor:$state,      /*leaky4*/
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs Seq_Tensor:$y, Seq_StaticTensor:$next_state);
  let assemblyFormat = [{
    $q `,` $k `,` $v `,` $gate
    `state` `(` $state `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // EFFC_TEST_NEW_MIXER_LEAKYAVERAGE_TD
