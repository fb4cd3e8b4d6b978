// The matrix memory of the xLSTM.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_MLSTM_TD
#define EFFC_DIALECTS_SEQ_MIXERS_MLSTM_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_MlstmOp : Seq_LinearMixerOp<"mlstm", [
    Seq_Token<"q", "T,G,K", "queries, one per group of heads">,
    Seq_Token<"k", "T,G,K", "keys, one per group of heads">,
    Seq_Token<"v", "T,H,V", "values">,
    Seq_Token<"input", "T,H", "log of the input gate">,
    Seq_Token<"forget", "T,H", "forget gate before the sigmoid">,
    Seq_State<"state", "H,K,V">,
    Seq_SumState<"sum", "H,K", "normaliser before the tokens">,
    Seq_MaximumState<"maximum", "H">], hasReadOut=1> {
  let summary = "mLSTM: exponential input gates, a normaliser and a running maximum";
  let attributes = (ins
    DefaultValuedAttr<F64Attr, "1.0">:$scale,
    F64Attr:$eps);
  let text = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h` of group `g = h / (H / G)`
    (rounded down), with `S`, `z` and `m` starting
    at `state[h]`, `sum[h]` and `maximum[h]`:

    ```
    for t in 0 .. T-1:
      log_decay = log(sigmoid(forget[t,h]))
      m'        = max(log_decay + m, input[t,h])
      keep      = exp(log_decay + m - m'), take = exp(input[t,h] - m')
      S         = keep * S + take * k[t,g,:] (x) v[t,h,:]
      z         = keep * z + take * k[t,g,:]
      m         = m'
      n         = scale * q[t,g,:] @ z
      y[t,h,:]  = scale * q[t,g,:] @ S / (max(|n|, exp(-m)) + eps)
    next_state[h] = S, next_sum[h] = z, next_maximum[h] = m
    ```

    `(x)` is the outer product, `@` the product of a vector and a matrix. All states
    before the first token of a sequence are 0.

    $values

    `scale` multiplies the query; it is 1 where it is absent.

    `form` is absent until a form is chosen.

    Constraints:

    $constraints

    Numerics: state and normaliser are kept divided by exp(m), so that no input gate
    overflows.

    Example:

    ```mlir
    %y, %next_state, %next_sum, %next_maximum = seq.mlstm %q, %k, %v, %input, %forget
          state(%state, %sum, %maximum) {scale = 5.000000e-01 : f64, eps = 1.000000e-06
          : f64}
        : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<?x6xf32>,
          tensor<?x6xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>, tensor<6xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>, tensor<6x3xf32>, tensor<6xf32>)
    ```

    Source: Beck et al., arXiv:2405.04517, equations 19 to 27.
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_MLSTM_TD
