// The first HGRN.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_HGRN_TD
#define EFFC_DIALECTS_SEQ_MIXERS_HGRN_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_HgrnOp : Seq_LinearMixerOp<"hgrn", [
    Seq_Token<"x", "T,H,V", "values">,
    Seq_Token<"forget", "T,H,V", "forget gate before the sigmoid">,
    Seq_Parameter<"lower_bound", "H,V", "least value of the forget gate, in [0, 1)">,
    Seq_State<"state", "H,1,V">]> {
  let summary = "HGRN: channels that take in what they forget";
  let text = [{
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

    $values

    `form` is absent until a form is chosen.

    Constraints:

    $constraints

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
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_HGRN_TD
