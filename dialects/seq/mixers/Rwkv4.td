// The fourth RWKV.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_RWKV4_TD
#define EFFC_DIALECTS_SEQ_MIXERS_RWKV4_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_Rwkv4Op : Seq_LinearMixerOp<"rwkv4", 2, 2, 1> {
  let summary = "RWKV4: a weighted mean over the tokens so far, per channel";
  let description = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h`, with `a`, `b` and `p`
    starting at `state[h]`, `sum[h]` and `maximum[h]`:

    ```
    for t in 0 .. T-1:
      m        = max(p, u[h,:] + k[t,h,:])
      own      = exp(u[h,:] + k[t,h,:] - m)
      y[t,h,:] = (exp(p - m) * a + own * v[t,h,:]) / (exp(p - m) * b + own)
      p'       = max(p + w[h,:], k[t,h,:])
      a        = exp(p + w[h,:] - p') * a + exp(k[t,h,:] - p') * v[t,h,:]
      b        = exp(p + w[h,:] - p') * b + exp(k[t,h,:] - p')
      p        = p'
    next_state[h] = a, next_sum[h] = b, next_maximum[h] = p
    ```

    The states are vectors: one key channel, which every token writes and reads.
    Before the first token of a sequence `a` and `b` are 0 and `p` is -1e38.

    | value          | shape   | element | meaning                              |
    |----------------|---------|---------|--------------------------------------|
    | `k`            | `T,H,V` | f32     | log of the weight of a value         |
    | `v`            | `T,H,V` | f32     | values                               |
    | `w`            | `H,V`   | f32     | log-decay per token, nats, at most 0 |
    | `u`            | `H,V`   | f32     | bonus of the token itself            |
    | `state`        | `H,1,V` | f32     | state before the tokens              |
    | `sum`          | `H,1,V` | f32     | sum of the weights before the tokens |
    | `maximum`      | `H,V`   | f32     | running maximum before the tokens    |
    | `y`            | `T,H,V` | f32     | mixed tokens                         |
    | `next_state`   | `H,1,V` | f32     | the same after the tokens            |
    | `next_sum`     | `H,1,V` | f32     | the same after the tokens            |
    | `next_maximum` | `H,V`   | f32     | the same after the tokens            |

    `form` is absent until a form is chosen.

    Constraints:

    * (RWKV41) `k` is `T,H,V`.
    * (RWKV42) `v` is `T,H,V`.
    * (RWKV43) `w` is `H,V`.
    * (RWKV44) `u` is `H,V`.
    * (RWKV45) `state` is `H,1,V`, and `next_state` has its type.
    * (RWKV46) `sum` is `H,1,V`, and `next_sum` has its type.
    * (RWKV47) `maximum` is `H,V`, and `next_maximum` has its type.
    * (RWKV48) `y` is `T,H,V`.

    Numerics: both sums are kept divided by exp(p), so that no weight overflows.

    Example:

    ```mlir
    %y, %next_state, %next_sum, %next_maximum = seq.rwkv4 %k, %v parameters(%w, %u)
          state(%state, %sum, %maximum)
        : (tensor<?x6x5xf32>, tensor<?x6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>,
          tensor<6x1x5xf32>, tensor<6x1x5xf32>, tensor<6x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>, tensor<6x5xf32>)
    ```

    Source: Peng et al., arXiv:2305.13048, equations 19 to 24 of its appendix.
  }];
  let arguments = (ins
    Seq_Tensor:$k,                          /*rwkv41*/
    Seq_Tensor:$v,                          /*rwkv42*/
    Seq_StaticTensor:$w,                    /*rwkv43*/
    Seq_StaticTensor:$u,                    /*rwkv44*/
    Seq_StaticTensor:$state,                /*rwkv45*/
    Seq_StaticTensor:$sum,                  /*rwkv46*/
    Seq_StaticTensor:$maximum,              /*rwkv47*/
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs
    Seq_Tensor:$y,                          /*rwkv48*/
    Seq_StaticTensor:$next_state,           /*rwkv45*/
    Seq_StaticTensor:$next_sum,             /*rwkv46*/
    Seq_StaticTensor:$next_maximum);        /*rwkv47*/
  let assemblyFormat = [{
    $k `,` $v
    `parameters` `(` $w `,` $u `)`
    `state` `(` $state `,` $sum `,` $maximum `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_RWKV4_TD
