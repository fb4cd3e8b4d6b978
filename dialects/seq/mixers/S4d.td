// The diagonal structured state space model, S4D.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_S4D_TD
#define EFFC_DIALECTS_SEQ_MIXERS_S4D_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_S4dOp : Seq_LinearMixerOp<"s4d", [
    Seq_Token<"x", "T,H,V", "values">,
    Seq_Parameter<"log_dt", "H,V", "log of the time step">,
    Seq_Parameter<"log_a", "H,K,V", "log of minus the real part of A">,
    Seq_Parameter<"a_imaginary", "H,K,V", "imaginary part of A">,
    Seq_Parameter<"c", "H,K,V", "real part of C">,
    Seq_Parameter<"c_imaginary", "H,K,V", "imaginary part of C">,
    Seq_Parameter<"d", "H,V", "weight of the feed-through">,
    Seq_State<"state", "H,K,V", "real part before the tokens", "real part after the tokens">,
    Seq_State<"state_imaginary", "H,K,V", "imaginary part before the tokens", "imaginary part after the tokens">], hasReadOut=1> {
  let summary = "S4D: complex modes that turn and decay at fixed rates";
  let text = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h`, with the complex `S` starting at
    `state[h] + i state_imaginary[h]`:

    ```
    A[k,v]     = -exp(log_a[h,k,v]) + i a_imaginary[h,k,v]
    decay[k,v] = exp(exp(log_dt[h,v]) * A[k,v])
    B[k,v]     = (decay[k,v] - 1) / A[k,v]
    C[k,v]     = c[h,k,v] + i c_imaginary[h,k,v]
    for t in 0 .. T-1:
      S[k,v]     = decay[k,v] * S[k,v] + B[k,v] * x[t,h,v]
      y[t,h,v]   = 2 Re(sum_k C[k,v] * S[k,v]) + d[h,v] * x[t,h,v]
    next_state[h] + i next_state_imaginary[h] = S
    ```

    Modes come in conjugate pairs, of which one is kept: hence the 2. S4D has one
    head, whose value channels are the model's; its parameters are the public tensors
    transposed. The state before the first token of a sequence is 0.

    $values

    `form` is absent until a form is chosen.

    Constraints:

    $constraints

    Numerics: decay - 1 is computed without cancellation, since time steps are
    small. The angle of a mode is rounded once per token, as in any f32 recurrence.

    Example:

    ```mlir
    %y, %next:2 = seq.s4d %x parameters(%log_dt, %log_a, %a_im, %c, %c_im, %d)
          state(%state, %state_im)
        : (tensor<?x6x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>,
          tensor<6x3x5xf32>, tensor<6x3x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>,
          tensor<6x3x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3x5xf32>)
    ```

    Source: Gu et al., arXiv:2206.11893, with zero-order hold.
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_S4D_TD
