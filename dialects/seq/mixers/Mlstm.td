// The matrix memory of the xLSTM.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_MLSTM_TD
#define EFFC_DIALECTS_SEQ_MIXERS_MLSTM_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_MlstmOp : Seq_LinearMixerOp<"mlstm", 5, 0, 1> {
  let summary = "mLSTM: exponential input gates, a normaliser and a running maximum";
  let description = [{
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

    | value          | shape   | element | meaning                           |
    |----------------|---------|---------|-----------------------------------|
    | `q`            | `T,G,K` | f32     | queries, one per group of heads   |
    | `k`            | `T,G,K` | f32     | keys, one per group of heads      |
    | `v`            | `T,H,V` | f32     | values                            |
    | `input`        | `T,H`   | f32     | log of the input gate             |
    | `forget`       | `T,H`   | f32     | forget gate before the sigmoid    |
    | `state`        | `H,K,V` | f32     | state before the tokens           |
    | `sum`          | `H,K`   | f32     | normaliser before the tokens      |
    | `maximum`      | `H`     | f32     | running maximum before the tokens |
    | `y`            | `T,H,V` | f32     | mixed tokens                      |
    | `next_state`   | `H,K,V` | f32     | the same after the tokens         |
    | `next_sum`     | `H,K`   | f32     | the same after the tokens         |
    | `next_maximum` | `H`     | f32     | the same after the tokens         |

    `scale` multiplies the query; it is 1 where it is absent.

    `form` is absent until a form is chosen.

    Constraints:

    * (MLSTM1) `q` is `T,G,K`.
    * (MLSTM2) `k` is `T,G,K`.
    * (MLSTM3) `v` is `T,H,V`.
    * (MLSTM4) `input` is `T,H`.
    * (MLSTM5) `forget` is `T,H`.
    * (MLSTM6) `state` is `H,K,V`, and `next_state` has its type.
    * (MLSTM7) `sum` is `H,K`, and `next_sum` has its type.
    * (MLSTM8) `maximum` is `H`, and `next_maximum` has its type.
    * (MLSTM9) `y` is `T,H,V`.
    * (MLSTM10) `G` divides `H`.

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
  let arguments = (ins
    Seq_Tensor:$q,                          /*mlstm1*/
    Seq_Tensor:$k,                          /*mlstm2*/
    Seq_Tensor:$v,                          /*mlstm3*/
    Seq_Tensor:$input,                      /*mlstm4*/
    Seq_Tensor:$forget,                     /*mlstm5*/
    Seq_StaticTensor:$state,                /*mlstm6*/
    Seq_StaticTensor:$sum,                  /*mlstm7*/
    Seq_StaticTensor:$maximum,              /*mlstm8*/
    DefaultValuedAttr<F64Attr, "1.0">:$scale,
    F64Attr:$eps,
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs
    Seq_Tensor:$y,                          /*mlstm9*/
    Seq_StaticTensor:$next_state,           /*mlstm6*/
    Seq_StaticTensor:$next_sum,             /*mlstm7*/
    Seq_StaticTensor:$next_maximum);        /*mlstm8*/
  let assemblyFormat = [{
    $q `,` $k `,` $v `,` $input `,` $forget
    `state` `(` $state `,` $sum `,` $maximum `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_MLSTM_TD
