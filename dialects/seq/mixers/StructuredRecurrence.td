// The heads of a structured recurrent mixer.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_STRUCTUREDRECURRENCE_TD
#define EFFC_DIALECTS_SEQ_MIXERS_STRUCTUREDRECURRENCE_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_StructuredRecurrenceOp : Seq_LinearMixerOp<"structured_recurrence", [
    Seq_Token<"x", "T,H,V", "values">,
    Seq_OptionalToken<"source", "T,H", "weight of a token as it is written">,
    Seq_OptionalToken<"target", "T,H", "weight of the sum as it is read">,
    Seq_OptionalToken<"bias", "T,H", "added to every channel">,
    Seq_OptionalToken<"diagonal", "T,H", "weight of a token for itself">,
    Seq_OptionalParameter<"log_decay", "decay", "H", "log of the decay per token, nats, at most 0; with `root` a number to clip">,
    Seq_State<"state", "H,1,V">], hasReadOut=1, hasRules=1> {
  let summary = "Structured recurrence: a decaying sum, weighted by position";
  let attributes = (ins OptionalAttr<I64Attr>:$root);  /*structured_recurrence9*/
  let text = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h`, with `s` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      past     = decay * s
      s        = past + source[t,h] * x[t,h,:]
      y[t,h,:] = target[t,h] * s + bias[t,h]
    next_state[h] = s
    ```

    With `diagonal`, a token has a weight of its own for itself:

    ```
      y[t,h,:] = target[t,h] * past + diagonal[t,h] * x[t,h,:] + bias[t,h]
    ```

    Absent weights are 1, an absent bias is 0. The decay is 1 without `log_decay` and
    exp(log_decay[h]) with it; with `root` as well it is
    min(max(log_decay[h], 0.9), 1) to the power 1 / root, which is how the public
    model stores it.

    | heads of the paper     | weights                                           |
    |------------------------|---------------------------------------------------|
    | row repeat             | `source`, `bias`                                  |
    | column repeat          | `target`, `bias`                                  |
    | mixed                  | an op for each half of the heads, or both weights |
    | combined               | a row op without bias and a column op, added      |
    | parallel               | the same ops after one projection for all heads   |
    | headless               | one head, all channels, no `log_decay`            |
    | diagonal constant      | `diagonal` besides                                |
    | kernel of k channels   | one head, no weights, then `seq.channel_convolution` |

    Projections of heads are dense layers around the op; without them heads are
    slices of the channels. The weights belong to absolute positions: they are rows
    of tables that `seq.embedding` takes by position, and the shortest of these tables
    bounds the length of a sequence. The state is the plain sum, never the quotient of an output and its weight, which may
    be 0. The state before the first token of a sequence is 0.

    $values

    `form` is absent until a form is chosen.

    Constraints:

    $constraints
    * (STRUCTURED_RECURRENCE9) `root`, where present, is at least 1, and there is a
      `log_decay`.

    Numerics: the sum grows with the number of tokens where nothing decays. The
    diagonal replaces a term that is never added, so nothing cancels.

    Example:

    ```mlir
    %y, %next = seq.structured_recurrence %x source(%source) target(%target)
          bias(%bias) decay(%log_decay) state(%state)
        : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>,
          tensor<6xf32>, tensor<6x1x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
    ```

    Source: Badger, Structured Recurrent Mixers, equations 1 to 3.
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_STRUCTUREDRECURRENCE_TD
