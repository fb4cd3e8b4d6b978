// The sixth RWKV.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_RWKV6_TD
#define EFFC_DIALECTS_SEQ_MIXERS_RWKV6_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_Rwkv6Op : Seq_LinearMixerOp<"rwkv6", 4, 1> {
  let summary = "RWKV6: reads before it writes, with a bonus for the token itself";
  let description = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h`, with `S` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      y[t,h,:] = r[t,h,:] @ (S + (u[h,:] * k[t,h,:]) (x) v[t,h,:])
      S        = exp(-exp(w[t,h,:])) (.) S + k[t,h,:] (x) v[t,h,:]
    next_state[h] = S
    ```

    `(.)` scales each row of the state, `(x)` is the outer product, `@` the product of
    a vector and a matrix. The state before the first token of a sequence is 0.

    | value        | shape   | element | meaning                    |
    |--------------|---------|---------|----------------------------|
    | `r`          | `T,H,K` | f32     | queries                    |
    | `k`          | `T,H,K` | f32     | keys                       |
    | `v`          | `T,H,V` | f32     | values                     |
    | `w`          | `T,H,K` | f32     | log of minus the log-decay |
    | `u`          | `H,K`   | f32     | bonus of the token itself  |
    | `state`      | `H,K,V` | f32     | state before the tokens    |
    | `y`          | `T,H,V` | f32     | mixed tokens               |
    | `next_state` | `H,K,V` | f32     | the same after the tokens  |

    `form` is absent until a form is chosen.

    Constraints:

    * (RWKV61) `r` is `T,H,K`.
    * (RWKV62) `k` is `T,H,K`.
    * (RWKV63) `v` is `T,H,V`.
    * (RWKV64) `w` is `T,H,K`.
    * (RWKV65) `u` is `H,K`.
    * (RWKV66) `state` is `H,K,V`, and `next_state` has its type.
    * (RWKV67) `y` is `T,H,V`.

    Numerics: exp(w) may be large, so that the log-decay has no lower bound; it is
    never subtracted from another.

    Example:

    ```mlir
    %y, %next = seq.rwkv6 %r, %k, %v, %w parameters(%u) state(%state)
        : (tensor<?x6x3xf32>, tensor<?x6x3xf32>, tensor<?x6x5xf32>, tensor<?x6x3xf32>,
          tensor<6x3xf32>, tensor<6x3x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
    ```

    Source: Peng et al., arXiv:2404.05892, equations 18 and 19.
  }];
  let arguments = (ins
    Seq_Tensor:$r,                          /*rwkv61*/
    Seq_Tensor:$k,                          /*rwkv62*/
    Seq_Tensor:$v,                          /*rwkv63*/
    Seq_Tensor:$w,                          /*rwkv64*/
    Seq_StaticTensor:$u,                    /*rwkv65*/
    Seq_StaticTensor:$state,                /*rwkv66*/
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs
    Seq_Tensor:$y,                          /*rwkv67*/
    Seq_StaticTensor:$next_state);          /*rwkv66*/
  let assemblyFormat = [{
    $r `,` $k `,` $v `,` $w
    `parameters` `(` $u `)`
    `state` `(` $state `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_RWKV6_TD
