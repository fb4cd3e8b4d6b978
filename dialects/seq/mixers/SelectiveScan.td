// The selective scan of the first Mamba.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_SELECTIVESCAN_TD
#define EFFC_DIALECTS_SEQ_MIXERS_SELECTIVESCAN_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_SelectiveScanOp : Seq_LinearMixerOp<"selective_scan", 4, 3, 1> {
  let summary = "Selective scan: every element of the state decays by itself";
  let description = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h` of group `g = h / (H / G)`
    (rounded down), with `S` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      step      = softplus(dt[t,h,:] + dt_bias[h,:])
      S[k,v]    = exp(-exp(a_log[h,k,v]) * step[v]) * S[k,v]
                  + b[t,g,k] * step[v] * x[t,h,v]
      y[t,h,:]  = c[t,g,:] @ S + d[h,:] * x[t,h,:]
    next_state[h] = S
    ```

    `@` is the product of a vector and a matrix. Mamba has one head, whose value
    channels are the model's; `a_log` is the public tensor transposed. The state
    before the first token of a sequence is 0.

    | value        | shape   | element | meaning                            |
    |--------------|---------|---------|------------------------------------|
    | `x`          | `T,H,V` | f32     | values                             |
    | `dt`         | `T,H,V` | f32     | time step before bias and softplus |
    | `b`          | `T,G,K` | f32     | keys                               |
    | `c`          | `T,G,K` | f32     | queries                            |
    | `a_log`      | `H,K,V` | f32     | log of the decay rate              |
    | `dt_bias`    | `H,V`   | f32     | added to `dt`                      |
    | `d`          | `H,V`   | f32     | weight of the feed-through         |
    | `state`      | `H,K,V` | f32     | state before the tokens            |
    | `y`          | `T,H,V` | f32     | mixed tokens                       |
    | `next_state` | `H,K,V` | f32     | the same after the tokens          |

    `form` is absent until a form is chosen.

    Constraints:

    * (SELECTIVE_SCAN1) `x` is `T,H,V`.
    * (SELECTIVE_SCAN2) `dt` is `T,H,V`.
    * (SELECTIVE_SCAN3) `b` is `T,G,K`.
    * (SELECTIVE_SCAN4) `c` is `T,G,K`.
    * (SELECTIVE_SCAN5) `a_log` is `H,K,V`.
    * (SELECTIVE_SCAN6) `dt_bias` is `H,V`.
    * (SELECTIVE_SCAN7) `d` is `H,V`.
    * (SELECTIVE_SCAN8) `state` is `H,K,V`, and `next_state` has its type.
    * (SELECTIVE_SCAN9) `y` is `T,H,V`.
    * (SELECTIVE_SCAN10) `G` divides `H`.

    Numerics: every log-decay is at most 0. One exponential per element and token is
    what the model asks for.

    Example:

    ```mlir
    %y, %next = seq.selective_scan %x, %dt, %b, %c parameters(%a_log, %dt_bias, %d)
          state(%state)
        : (tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>,
          tensor<6x3x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x3x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
    ```

    Source: Gu and Dao, arXiv:2312.00752, algorithm 2.
  }];
  let arguments = (ins
    Seq_Tensor:$x,                          /*selective_scan1*/
    Seq_Tensor:$dt,                         /*selective_scan2*/
    Seq_Tensor:$b,                          /*selective_scan3*/
    Seq_Tensor:$c,                          /*selective_scan4*/
    Seq_StaticTensor:$a_log,                /*selective_scan5*/
    Seq_StaticTensor:$dt_bias,              /*selective_scan6*/
    Seq_StaticTensor:$d,                    /*selective_scan7*/
    Seq_StaticTensor:$state,                /*selective_scan8*/
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs
    Seq_Tensor:$y,                          /*selective_scan9*/
    Seq_StaticTensor:$next_state);          /*selective_scan8*/
  let assemblyFormat = [{
    $x `,` $dt `,` $b `,` $c
    `parameters` `(` $a_log `,` $dt_bias `,` $d `)`
    `state` `(` $state `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_SELECTIVESCAN_TD
