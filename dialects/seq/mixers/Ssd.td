// Mamba-2's mixer.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_SSD_TD
#define EFFC_DIALECTS_SEQ_MIXERS_SSD_TD

include "dialects/seq/SeqAttributes.td"

def Seq_SsdOp
    : Seq_ValueOp<"ssd", [
        AllTypesMatch<["x", "y"]>,
        AllTypesMatch<["state", "next_state"]>,
        DeclareOpInterfaceMethods<Seq_StatefulOpInterface>,
        DeclareOpInterfaceMethods<Seq_MixerOpInterface,
                                  ["getStructure", "buildTokenMap",
                                   "buildReadOut"]>]> {
  let summary = "State-space duality: a state that decays by one scalar per head";
  let description = [{
    Reads `T` tokens and the state left by those before them; returns the mixed
    tokens and the state after them. For head `h` of group `g = h / (H / G)`
    (rounded down), with `S` starting at `state[h]`:

    ```
    for t in 0 .. T-1:
      dt'       = clamp(softplus(dt[t,h] + dt_bias[h]), dt_min, dt_max)
      log_decay = -exp(a_log[h]) * dt'
      S         = exp(log_decay) * S + b[t,g,:] (x) (dt' * x[t,h,:])
      y[t,h,:]  = c[t,g,:] @ S + d[h] * x[t,h,:]
    next_state[h] = S
    ```

    `(x)` is the outer product, `@` the product of a vector and a matrix. `T = 1`
    is the decode case; no other op is needed for it. The state before the first
    token of a sequence is 0.

    | value        | shape   | element | meaning                             |
    |--------------|---------|---------|-------------------------------------|
    | `x`          | `T,H,V` | f32     | values                              |
    | `dt`         | `T,H`   | f32     | time step before bias and softplus  |
    | `b`          | `T,G,K` | f32     | keys, one per group of heads        |
    | `c`          | `T,G,K` | f32     | queries, one per group of heads     |
    | `a_log`      | `H`     | f32     | log of the decay rate, nats per unit of time |
    | `dt_bias`    | `H`     | f32     | added to `dt`                       |
    | `d`          | `H`     | f32     | weight of the feed-through          |
    | `state`      | `H,K,V` | f32     | state before the tokens             |
    | `y`          | `T,H,V` | f32     | mixed tokens                        |
    | `next_state` | `H,K,V` | f32     | state after the tokens              |

    `dt_min` and `dt_max` bound the time step; an absent one does not bind.
    `form` is absent until a form is chosen.

    Constraints:

    * (SSD1) `x` is `T,H,V`, and `y` has its type.
    * (SSD2) `dt` is `T,H`.
    * (SSD3) `b` and `c` are `T,G,K`.
    * (SSD4) `G` divides `H`.
    * (SSD5) `a_log`, `dt_bias` and `d` are `H`.
    * (SSD6) `state` is `H,K,V`, and `next_state` has its type.
    * (SSD7) `dt_min` and `dt_max`, where present, are not NaN and at least 0,
      and `dt_min` is at most `dt_max`.

    Numerics: the log-decay is at most 0 whatever the data, so the state cannot
    overflow by decay. The exponential of `a_log` is taken in f32.

    Example:

    ```mlir
    %y, %next = seq.ssd %x, %dt, %b, %c parameters(%a_log, %dt_bias, %d)
        state(%s) {dt_max = 0.1 : f64}
        : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x2x3xf32>,
           tensor<?x2x3xf32>), (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>),
          tensor<6x3x5xf32>
    ```

    Source: Dao and Gu, arXiv:2405.21060.
  }];
  let arguments = (ins
    Seq_Tensor:$x,                          /*ssd1*/
    Seq_Tensor:$dt,                         /*ssd2*/
    Seq_Tensor:$b,                          /*ssd3, ssd4*/
    Seq_Tensor:$c,                          /*ssd3*/
    Seq_StaticTensor:$a_log,                /*ssd5*/
    Seq_StaticTensor:$dt_bias,              /*ssd5*/
    Seq_StaticTensor:$d,                    /*ssd5*/
    Seq_StaticTensor:$state,                /*ssd6*/
    OptionalAttr<F64Attr>:$dt_min,          /*ssd7*/
    OptionalAttr<F64Attr>:$dt_max,          /*ssd7*/
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs Seq_Tensor:$y, Seq_StaticTensor:$next_state);
  let assemblyFormat = [{
    $x `,` $dt `,` $b `,` $c `parameters` `(` $a_log `,` $dt_bias `,` $d `)`
    `state` `(` $state `)` attr-dict `:`
    `(` type($x) `,` type($dt) `,` type($b) `,` type($c) `)` `,`
    `(` type($a_log) `,` type($dt_bias) `,` type($d) `)` `,` type($state)
  }];
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_SSD_TD
