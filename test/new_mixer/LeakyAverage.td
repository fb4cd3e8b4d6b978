// A mixer that no paper has and no library of the compiler knows of.
#ifndef EFFC_TEST_NEW_MIXER_LEAKYAVERAGE_TD
#define EFFC_TEST_NEW_MIXER_LEAKYAVERAGE_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_LeakyAverageOp : Seq_LinearMixerOp<"leaky_average", [
    Seq_Token<"q", "T,H,K", "queries">,
    Seq_Token<"k", "T,H,K", "keys">,
    Seq_Token<"v", "T,H,V", "values">,
    Seq_Token<"gate", "T,H", "share that is kept, before the sigmoid">,
    Seq_State<"state", "H,K,V">]> {
  let summary = "Leaky average: a state that forgets as much as it takes in";
  let text = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h`, with `S` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      keep     = sigmoid(gate[t,h])
      S        = keep * S + (1 - keep) * k[t,h,:] (x) v[t,h,:]
      y[t,h,:] = q[t,h,:] @ S
    next_state[h] = S
    ```

    $values

    Constraints:

    $constraints

    Example:

    ```mlir
    %y, %next = seq.leaky_average %q, %k, %v, %gate state(%state)
        : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x5xf32>, tensor<?x2xf32>,
           tensor<2x3x5xf32>) -> (tensor<?x2x5xf32>, tensor<2x3x5xf32>)
    ```
  }];
}

#endif // EFFC_TEST_NEW_MIXER_LEAKYAVERAGE_TD
