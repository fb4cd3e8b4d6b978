// The turn by a running angle.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_RUNNINGTURN_TD
#define EFFC_DIALECTS_SEQ_MIXERS_RUNNINGTURN_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_RunningTurnOp : Seq_LinearMixerOp<"running_turn", [
    Seq_Token<"angle", "T,H,V", "radians by which a token turns each channel">,
    Seq_RunningState<"state", "H,1,V", "1.0", "real part before the tokens", "real part after the tokens">,
    Seq_RunningState<"state_imaginary", "H,1,V", "0.0", "imaginary part before the tokens", "imaginary part after the tokens">], hasReadOut=0, hasRules=1> {
  let summary = "Running turn: the cosine of the sum of all angles so far";
  let attributes = (ins DefaultValuedAttr<F64Attr, "0.0">:$phase);
  let text = [{
    Reads `T` tokens and the state left by those before them; returns the turned
    numbers and the state after them. For head `h` and channel `v`, with the complex
    `S` starting at `state[h,0,v] + i state_imaginary[h,0,v]`:

    ```
    for t in 0 .. T-1:
      S        = exp(i angle[t,h,v]) * S
      y[t,h,v] = Re(exp(i phase) * S)
    next_state[h,0,v] + i next_state_imaginary[h,0,v] = S
    ```

    which is `cos(phase + angle[0] + ... + angle[t])`. The state before the first token
    of a sequence is 1. A `phase` of `-pi/2` gives the sine.

    $values

    `phase` is in radians; it is 0 where it is absent.

    `form` is absent until a form is chosen.

    Constraints:

    $constraints
    * (RUNNING_TURN5) `phase` is finite.

    Numerics: numbers of magnitude 1 are multiplied, and no angles are summed. A sum
    of angles loses its last digits as it grows. A product keeps its magnitude and
    its angle to one rounding per token, however many turns it has made.

    Example:

    ```mlir
    %y, %next:2 = seq.running_turn %angle state(%state, %state_im) {phase = -5.000000e-01 : f64}
        : (tensor<?x6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>)
    ```

    Source: the rotation that depends on data of Mamba-3 (Lahoti et al., 2026), as a
    product in place of a sum.
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_RUNNINGTURN_TD
