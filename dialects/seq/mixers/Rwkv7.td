// The seventh RWKV.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_RWKV7_TD
#define EFFC_DIALECTS_SEQ_MIXERS_RWKV7_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_Rwkv7Op : Seq_LinearMixerOp<"rwkv7", 6, 0> {
  let summary = "RWKV7: a decay per key channel and a correction that reads the state before it";
  let description = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h`, with `S` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      log_decay = -exp(-1/2) * sigmoid(w[t,h,:])
      z         = -kk[t,h,:] @ S
      S         = exp(log_decay) (.) S + (kk[t,h,:] * a[t,h,:]) (x) z
                  + k[t,h,:] (x) v[t,h,:]
      y[t,h,:]  = r[t,h,:] @ S
    next_state[h] = S
    ```

    `(.)` scales each row of the state, `(x)` is the outer product, `@` the product of
    a vector and a matrix. The state before the first token of a sequence is 0.

    | value        | shape   | element | meaning                          |
    |--------------|---------|---------|----------------------------------|
    | `r`          | `T,H,K` | f32     | queries                          |
    | `w`          | `T,H,K` | f32     | decay before the sigmoid         |
    | `k`          | `T,H,K` | f32     | keys                             |
    | `v`          | `T,H,V` | f32     | values                           |
    | `kk`         | `T,H,K` | f32     | keys of length 1 to be corrected |
    | `a`          | `T,H,K` | f32     | rate of correction, in [0, 1]    |
    | `state`      | `H,K,V` | f32     | state before the tokens          |
    | `y`          | `T,H,V` | f32     | mixed tokens                     |
    | `next_state` | `H,K,V` | f32     | the same after the tokens        |

    `form` is absent until a form is chosen.

    Constraints:

    * (RWKV71) `r` is `T,H,K`.
    * (RWKV72) `w` is `T,H,K`.
    * (RWKV73) `k` is `T,H,K`.
    * (RWKV74) `v` is `T,H,V`.
    * (RWKV75) `kk` is `T,H,K`.
    * (RWKV76) `a` is `T,H,K`.
    * (RWKV77) `state` is `H,K,V`, and `next_state` has its type.
    * (RWKV78) `y` is `T,H,V`.

    Numerics: the log-decay lies in (-0.6066, 0), so a decay is at least 0.545.

    Example:

    ```mlir
    %y, %next = seq.rwkv7 %r, %w, %k, %v, %kk, %a state(%state)
        : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>,
          tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<6x3x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
    ```

    Source: Peng et al., arXiv:2503.14456, equations 13 to 17.
  }];
  let arguments = (ins
    Seq_Tensor:$r,                          /*rwkv71*/
    Seq_Tensor:$w,                          /*rwkv72*/
    Seq_Tensor:$k,                          /*rwkv73*/
    Seq_Tensor:$v,                          /*rwkv74*/
    Seq_Tensor:$kk,                         /*rwkv75*/
    Seq_Tensor:$a,                          /*rwkv76*/
    Seq_StaticTensor:$state,                /*rwkv77*/
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs
    Seq_Tensor:$y,                          /*rwkv78*/
    Seq_StaticTensor:$next_state);          /*rwkv77*/
  let assemblyFormat = [{
    $r `,` $w `,` $k `,` $v `,` $kk `,` $a
    `state` `(` $state `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_RWKV7_TD
