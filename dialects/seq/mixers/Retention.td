// Retention and lightning attention.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_RETENTION_TD
#define EFFC_DIALECTS_SEQ_MIXERS_RETENTION_TD

include "dialects/seq/mixers/LinearMixer.td"

def Seq_RetentionOp : Seq_LinearMixerOp<"retention", 3, 1> {
  let summary = "Retention: a state that decays by one constant per head";
  let description = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h` of group `g = h / (H / G)`
    (rounded down), with `S` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      S        = exp(log_decay[h]) * S + k[t,g,:] (x) v[t,h,:]
      y[t,h,:] = scale * q[t,g,:] @ S
    next_state[h] = S
    ```

    `(x)` is the outer product, `@` the product of a vector and a matrix. The state
    before the first token of a sequence is 0. The schedules of RetNet and of
    the lightning families differ in how `log_decay` follows from head and layer.

    | value        | shape   | element | meaning                                     |
    |--------------|---------|---------|---------------------------------------------|
    | `q`          | `T,G,K` | f32     | queries, one per group of heads             |
    | `k`          | `T,G,K` | f32     | keys, one per group of heads                |
    | `v`          | `T,H,V` | f32     | values                                      |
    | `log_decay`  | `H`     | f32     | log of the decay per token, nats, at most 0 |
    | `state`      | `H,K,V` | f32     | state before the tokens                     |
    | `y`          | `T,H,V` | f32     | mixed tokens                                |
    | `next_state` | `H,K,V` | f32     | the same after the tokens                   |

    `scale` multiplies the query; it is 1 where it is absent.

    `form` is absent until a form is chosen.

    Constraints:

    * (RETENTION1) `q` is `T,G,K`.
    * (RETENTION2) `k` is `T,G,K`.
    * (RETENTION3) `v` is `T,H,V`.
    * (RETENTION4) `log_decay` is `H`.
    * (RETENTION5) `state` is `H,K,V`, and `next_state` has its type.
    * (RETENTION6) `y` is `T,H,V`.
    * (RETENTION7) `G` divides `H`.

    Numerics: with a decay close to 1 the state grows to 1 / (1 - decay) times what
    one token writes.

    Example:

    ```mlir
    %y, %next = seq.retention %q, %k, %v parameters(%log_decay) state(%state) {scale =
          5.000000e-01 : f64}
        : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x6x5xf32>, tensor<6xf32>,
          tensor<6x3x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<6x3x5xf32>)
    ```

    Source: Sun et al., arXiv:2307.08621; Qin et al., arXiv:2401.04658.
  }];
  let arguments = (ins
    Seq_Tensor:$q,                          /*retention1*/
    Seq_Tensor:$k,                          /*retention2*/
    Seq_Tensor:$v,                          /*retention3*/
    Seq_StaticTensor:$log_decay,            /*retention4*/
    Seq_StaticTensor:$state,                /*retention5*/
    DefaultValuedAttr<F64Attr, "1.0">:$scale,
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs
    Seq_Tensor:$y,                          /*retention6*/
    Seq_StaticTensor:$next_state);          /*retention5*/
  let assemblyFormat = [{
    $q `,` $k `,` $v
    `parameters` `(` $log_decay `)`
    `state` `(` $state `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_RETENTION_TD
