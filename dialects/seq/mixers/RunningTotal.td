// The sum of all tokens so far.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_RUNNINGTOTAL_TD
#define EFFC_DIALECTS_SEQ_MIXERS_RUNNINGTOTAL_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_RunningTotalOp : Seq_LinearMixerOp<"running_total", [
    Seq_Token<"x", "T,H,V", "what is added">,
    Seq_RunningState<"state", "H,1,V", "0.0", "sum before the tokens", "sum after the tokens">]> {
  let summary = "Running total: the sum of all tokens so far";
  let text = [{
    Reads `T` tokens and the sum left by those before them; returns the sum up to each
    token and the sum after them. For head `h`, with `s` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      s        = s + x[t,h,:]
      y[t,h,:] = s
    next_state[h] = s
    ```

    The state before the first token of a sequence is 0. `seq.running_sum` is the same
    over the rows of one block, without a state.

    $values

    `form` is absent until a form is chosen.

    Constraints:

    $constraints

    Numerics: a sum of `n` numbers of one sign keeps about 1e-7 of its own size, which
    is what differences of two such sums lose.

    Example:

    ```mlir
    %y, %next = seq.running_total %x state(%state)
        : (tensor<?x6x5xf32>, tensor<6x1x5xf32>) -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>)
    ```

    Source: the running sum of log forget gates in the forgetting transformer, Lin et
    al., arXiv:2503.02130.
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_RUNNINGTOTAL_TD
