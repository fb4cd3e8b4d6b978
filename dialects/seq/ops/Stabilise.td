// Gates without bounds, made harmless by a running maximum.
#ifndef EFFC_DIALECTS_SEQ_OPS_STABILISE_TD
#define EFFC_DIALECTS_SEQ_OPS_STABILISE_TD

include "dialects/seq/SeqAttributes.td"

def Seq_StabiliseOp
    : Seq_ValueOp<"stabilise", [
        AllTypesMatch<["log_decay", "log_gate", "scaled_decay", "scaled_gate",
                       "maxima"]>,
        AllTypesMatch<["maximum", "next_maximum"]>]> {
  let summary = "Refer decays and input gates to their running maximum";
  let description = [{
    A state `S_t = e^d_t S_{t-1} + e^i_t w_t` whose input gates have no bound is
    kept as `S_t e^-m_t` with the max-plus recurrence

    ```
    m_t          = max(d_t + m_{t-1}, i_t)
    scaled_decay = d_t + m_{t-1} - m_t      at most 0
    scaled_gate  = i_t - m_t                at most 0
    maxima_t     = m_t
    ```

    so that decays and gates are again exponentials of numbers at most 0, and
    every form of a plain recurrence holds.

    | value          | shape   | element | meaning                            |
    |----------------|---------|---------|------------------------------------|
    | `log_decay`    | `T,...` | f32     | d, nats                            |
    | `log_gate`     | `T,...` | f32     | i, nats, without bound             |
    | `maximum`      | `...`   | f32     | m before the first token           |
    | `scaled_decay` | `T,...` | f32     | log-decay of the scaled state      |
    | `scaled_gate`  | `T,...` | f32     | log of the scaled input gate       |
    | `maxima`       | `T,...` | f32     | m after each token                 |
    | `next_maximum` | `...`   | f32     | m after the last token             |

    Constraints:

    * (STABILISE1) `log_decay`, `log_gate`, `scaled_decay`, `scaled_gate` and
      `maxima` have one type.
    * (STABILISE2) `maximum` and `next_maximum` have its shape without `T`.

    Example:

    ```mlir
    %d, %i, %m, %last = seq.stabilise %log_decay, %log_gate from %m0
        : tensor<7x6xf32>, tensor<6xf32>
    ```

    Source: Beck et al., arXiv:2405.04517, equations 15 to 17.
  }];
  let arguments = (ins
    Seq_Tensor:$log_decay,                  /*stabilise1*/
    Seq_Tensor:$log_gate,                   /*stabilise1*/
    Seq_StaticTensor:$maximum);             /*stabilise2*/
  let results = (outs
    Seq_Tensor:$scaled_decay,               /*stabilise1*/
    Seq_Tensor:$scaled_gate,                /*stabilise1*/
    Seq_Tensor:$maxima,                     /*stabilise1*/
    Seq_StaticTensor:$next_maximum);        /*stabilise2*/
  let assemblyFormat = [{
    $log_decay `,` $log_gate `from` $maximum attr-dict `:` type($log_decay) `,`
    type($maximum)
  }];
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_OPS_STABILISE_TD
