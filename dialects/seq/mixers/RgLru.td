// The real-gated linear recurrent unit of Hawk and Griffin.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_RGLRU_TD
#define EFFC_DIALECTS_SEQ_MIXERS_RGLRU_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_RgLruOp : Seq_LinearMixerOp<"rg_lru", [
    Seq_Token<"x", "T,H,V", "values">,
    Seq_Token<"recurrence", "T,H,V", "recurrence gate before the sigmoid">,
    Seq_Token<"input", "T,H,V", "input gate before the sigmoid">,
    Seq_TokenPositions<"positions", "positions in the sequence">,
    Seq_Parameter<"rate", "H,V", "decay rate before softplus">,
    Seq_State<"state", "H,1,V">], hasRules=1> {
  let summary = "RG-LRU: channels that forget by a gate and keep their size";
  let attributes = (ins DefaultValuedAttr<F64Attr, "8.0">:$exponent);  /*rg_lru8*/
  let text = [{
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

    $values

    `exponent` is 8 where it is absent. `form` is absent until a form is chosen.

    Constraints:

    $constraints
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
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_RGLRU_TD
