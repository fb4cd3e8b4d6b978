// The heads of a structured recurrent mixer.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_STRUCTUREDRECURRENCE_TD
#define EFFC_DIALECTS_SEQ_MIXERS_STRUCTUREDRECURRENCE_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_StructuredRecurrenceOp : Seq_LinearMixerOp<"structured_recurrence", 4, 1, 1> {
  let summary = "Structured recurrence: a decaying sum, weighted by position";
  let description = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h`, with `s` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      s        = exp(log_decay[h]) * s + source[t,h] * x[t,h,:]
      y[t,h,:] = target[t,h] * s + bias[t,h]
    next_state[h] = s
    ```

    A row-repeat head has a weight per source token and 1 for each target, a
    column-repeat head the reverse. The weights belong to absolute positions: they
    are rows of tables, gathered by position. The state is the plain sum, never the
    quotient of an output and its weight, which may be 0. The state before the first
    token of a sequence is 0.

    | value        | shape   | element | meaning                                     |
    |--------------|---------|---------|---------------------------------------------|
    | `x`          | `T,H,V` | f32     | values                                      |
    | `source`     | `T,H`   | f32     | weight of a token as it is written          |
    | `target`     | `T,H`   | f32     | weight of the sum as it is read             |
    | `bias`       | `T,H`   | f32     | added to every channel                      |
    | `log_decay`  | `H`     | f32     | log of the decay per token, nats, at most 0 |
    | `state`      | `H,1,V` | f32     | state before the tokens                     |
    | `y`          | `T,H,V` | f32     | mixed tokens                                |
    | `next_state` | `H,1,V` | f32     | the same after the tokens                   |

    `form` is absent until a form is chosen.

    Constraints:

    * (STRUCTURED_RECURRENCE1) `x` is `T,H,V`.
    * (STRUCTURED_RECURRENCE2) `source` is `T,H`.
    * (STRUCTURED_RECURRENCE3) `target` is `T,H`.
    * (STRUCTURED_RECURRENCE4) `bias` is `T,H`.
    * (STRUCTURED_RECURRENCE5) `log_decay` is `H`.
    * (STRUCTURED_RECURRENCE6) `state` is `H,1,V`, and `next_state` has its type.
    * (STRUCTURED_RECURRENCE7) `y` is `T,H,V`.

    Numerics: the sum grows with the number of tokens where nothing decays.

    Example:

    ```mlir
    %y, %next = seq.structured_recurrence %x, %source, %target, %bias
          parameters(%log_decay) state(%state)
        : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>,
          tensor<6xf32>, tensor<6x1x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
    ```

    Source: Badger, Structured Recurrent Mixers, equations 1 to 3.
  }];
  let arguments = (ins
    Seq_Tensor:$x,                          /*structured_recurrence1*/
    Seq_Tensor:$source,                     /*structured_recurrence2*/
    Seq_Tensor:$target,                     /*structured_recurrence3*/
    Seq_Tensor:$bias,                       /*structured_recurrence4*/
    Seq_StaticTensor:$log_decay,            /*structured_recurrence5*/
    Seq_StaticTensor:$state,                /*structured_recurrence6*/
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs
    Seq_Tensor:$y,                          /*structured_recurrence7*/
    Seq_StaticTensor:$next_state);          /*structured_recurrence6*/
  let assemblyFormat = [{
    $x `,` $source `,` $target `,` $bias
    `parameters` `(` $log_decay `)`
    `state` `(` $state `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_STRUCTUREDRECURRENCE_TD
