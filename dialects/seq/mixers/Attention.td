// Softmax attention with a ring of keys and values.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_ATTENTION_TD
#define EFFC_DIALECTS_SEQ_MIXERS_ATTENTION_TD

include "dialects/seq/SeqAttributes.td"

def Seq_AttentionOp
    : Seq_ValueOp<"attention", [
        AttrSizedOperandSegments,
        DeclareOpInterfaceMethods<Seq_StatefulOpInterface>,
        DeclareOpInterfaceMethods<Seq_MixerOpInterface,
                                  ["getNamedOperands", "getStructure", "getWindowTokens"]>]> {
  let summary = "Softmax over the keys of the last tokens, or of all";
  let description = [{
    Reads `T` tokens at consecutive positions and the keys and values of those
    before them; returns the mixed tokens and the keys and values to keep. A key
    at position `j` is kept in row `j mod W` of the states: with `window` as a
    ring that the keys in sight never outgrow, without it as a table that holds
    `W` positions and no more. Head `h` reads key head `h / (H / G)` and value
    head `h / (H / J)`, rounded down:

    ```
    for t in 0 .. T-1:
      p = positions[t]
      keys[p mod W], values[p mod W] = k[t], v[t]
      for h in 0 .. H-1:
        for j in max(0, p - window + 1) .. p:
          s_j = scale * (q[t,h,:] . keys[j mod W, h / (H / G), :])
          s_j = soft_cap * tanh(s_j / soft_cap)           where soft_cap is given
          s_j = s_j + slopes[h] * (j - p)                 where slopes are given
          s_j = s_j + d_j, s_j * d_j, or -inf where d_j < 1,
                by `key_score`, with d_j = key_scores[j mod W, h / (H / N)]
        y[t,h,:] = sum_j e^s_j values[j mod W, h / (H / J), :]
                   / (e^sinks[h] + sum_j e^s_j)
    ```

    without the term of `sinks` where there are none. With `keep`, the sums run
    over those keys in sight whose `d_j` is among the `keep` largest, ties to the
    lower position. A token that sees no key has the result 0.

    With `blocks` a query sees the keys of the blocks that it has chosen: those of
    the `j` above for which `j / block`, rounded down, is among
    `blocks[t, h / (H / M), :]`. `seq.choose_blocks` chooses so. A number may occur
    more than once, and blocks that have no keys yet may be chosen.

    Multi-head, multi-query and grouped-query attention are choices of `G = J`;
    shared-key attention has `G = 1` and `J = H`. Without `v` the first `V`
    channels of a key are its value, and keys alone are kept: so latent attention
    keeps one row for all heads. Rotations come before the op, so
    that keys are kept rotated. `T = 1` is the decode case.

    With `sink_query` the keys of the first `S` tokens stay in sight when the
    window has passed them, as if positions were places in a cache of these `S`
    and the window's tokens, which has `S + window` places with the query's own:

    ```
      sink_keys[p], sink_values[p] = k[t], v[t]           where p < S
      for j in 0 .. min(S - 1, p - window), before the j above:
        as above with sink_query[t], sink_keys[j], sink_values[j] and
        sink_scores[j] for q[t], keys[j mod W], ..., and the slope times
        j - min(p, S + window - 1)
    ```

    Keys that are turned at their position and queries that are turned at theirs
    have the angle of their distance, which for keys of the window is that of their
    places too. `sink_query` is the query turned at its own place,
    `min(p, S + window - 1)`: the `last` of `seq.rotary`.

    | value        | shape   | element | meaning                             |
    |--------------|---------|---------|-------------------------------------|
    | `q`          | `T,H,K` | f32     | queries                             |
    | `k`          | `T,G,K` | f32     | keys                                |
    | `v`          | `T,J,V` | f32     | values                              |
    | `positions`  | `T`     | i32     | positions in the sequence, each one more than the one before |
    | `sink_query` | `T,H,K` | f32     | queries for the first tokens' keys  |
    | `d`          | `T,N`   | f32     | a number per key                    |
    | `blocks`     | `T,M,U` | i32     | numbers of the blocks of keys in sight |
    | `sinks`      | `H`     | f32     | logit of a key without a value      |
    | `slopes`     | `H`     | f32     | added to a score per position of distance |
    | `keys`       | `W,G,K` | f32     | keys before the tokens              |
    | `values`     | `W,J,V` | f32     | values before the tokens            |
    | `key_scores` | `W,N`   | f32     | numbers `d` before the tokens       |
    | `sink_keys`, `sink_values`, `sink_scores` | `S,G,K`, `S,J,V`, `S,N` | f32 | those of the first tokens |
    | `y`          | `T,H,V` | f32     | mixed tokens                        |
    | `next_keys`  | `W,G,K` | f32     | keys after the tokens               |
    | `next_values`| `W,J,V` | f32     | values after the tokens             |
    | `next_states`|         | f32     | the other states after the tokens, in the order of the operands |

    Without `window`, a position of `W` or more is an error of the call, which the
    runtime refuses before anything is computed.

    Constraints:

    * (ATT1) `q` is `T,H,K`, `k` is `T,G,K`, `v`, where present, is `T,J,V`, `y` is
      `T,H,V`.
    * (ATT2) `G` and `J` divide `H`, and one of them divides the other.
    * (ATT3) `positions` is `T`.
    * (ATT4) `keys` is `W,G,K`, `values`, present where `v` is, is `W,J,V`, and
      there is a next state of its type for each state.
    * (ATT5) `window`, where present, is in 1..W.
    * (ATT6) `sinks` and `slopes`, where present, are `H`.
    * (ATT7) `d` and `key_scores` are both present, exactly where `key_score` is not
      `none`; `d` is `T,N`, `key_scores` is `W,N`; `N` divides `H`.
    * (ATT8) `scale` is finite, `soft_cap` finite and above 0.
    * (ATT9) `keep`, where present, is at least 1, and there are `d`.
    * (ATT10) `sink_query`, `sink_keys` and `sink_values` are all present or all
      absent, and present beside a `window` alone; `sink_scores` is present exactly
      where they and `d` are.
    * (ATT11) `sink_query` is `T,H,K`, `sink_keys` is `S,G,K`, `sink_values` is
      `S,J,V`, `sink_scores` is `S,N`.
    * (ATT12) Without `v`, `V` is at most `K`: that many channels of a key, of as
      many heads, are its value. There are neither `d` nor `sink_query` beside
      them.
    * (ATT13) `blocks` and `block` are both present or both absent, and present
      without `window` and `keep`; `blocks` is `T,M,U`, `M` divides `H` and is a
      multiple of `G` and of `J`; `block` is in 1..2^30.

    Numerics: the largest score is subtracted from all before the exponential;
    a key out of sight is left out by select, never by adding a large number.

    Example:

    ```mlir
    %y, %next_k, %next_v = seq.attention %q, %k, %v positions(%p)
        states(%keys, %values) {window = 7 : i64, scale = 0.5 : f64}
        : (tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?x2x5xf32>,
           tensor<?xi32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
          -> (tensor<?x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
    %z, %next = seq.attention %q, %k positions(%p) states(%keys) {scale = 0.5 : f64}
        : (tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?xi32>, tensor<8x2x4xf32>)
          -> (tensor<?x6x3xf32>, tensor<8x2x4xf32>)
    %u, %u_k, %u_v = seq.attention %q, %k, %v positions(%p) blocks(%chosen)
        states(%keys, %values) {block = 4 : i64, scale = 0.5 : f64}
        : (tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?x2x5xf32>,
           tensor<?xi32>, tensor<?x2x3xi32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
          -> (tensor<?x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
    ```

    Source: Vaswani et al., arXiv:1706.03762; windows: Beltagy et al.,
    arXiv:2004.05150; slopes: Press et al., arXiv:2108.12409; a number per key:
    Shi and Wu, arXiv:2412.11834; first tokens that stay: Xiao et al.,
    arXiv:2309.17453; values that are a part of keys: DeepSeek-AI, DeepSeek-V2,
    arXiv:2405.04434, section 2.1.2; chosen blocks: Lu et al., arXiv:2502.13189.
  }];
  let arguments = (ins
    Seq_Tensor:$q,                          /*att1*/
    Seq_Tensor:$k,                          /*att1, att2*/
    Optional<Seq_Tensor>:$v,                /*att1, att2, att12*/
    Seq_Indices:$positions,                 /*att3*/
    Optional<Seq_Tensor>:$sink_query,       /*att10, att11*/
    Optional<Seq_Tensor>:$d,                /*att7*/
    Optional<Seq_Choices>:$blocks,          /*att13*/
    Optional<Seq_StaticTensor>:$sinks,      /*att6*/
    Optional<Seq_StaticTensor>:$slopes,     /*att6*/
    Seq_StaticTensor:$keys,                 /*att4*/
    Optional<Seq_StaticTensor>:$values,     /*att4*/
    Optional<Seq_StaticTensor>:$key_scores, /*att7*/
    Optional<Seq_StaticTensor>:$sink_keys,  /*att10, att11*/
    Optional<Seq_StaticTensor>:$sink_values,
    Optional<Seq_StaticTensor>:$sink_scores,
    OptionalAttr<I64Attr>:$window,          /*att5*/
    F64Attr:$scale,                         /*att8*/
    OptionalAttr<F64Attr>:$soft_cap,        /*att8*/
    DefaultValuedAttr<Seq_KeyScoreAttr,
                      "::effc::seq::KeyScore::None">:$key_score,  /*att7*/
    OptionalAttr<I64Attr>:$keep,            /*att9*/
    OptionalAttr<I64Attr>:$block,           /*att13*/
    OptionalAttr<Seq_FormAttr>:$form);
  // The values' next state, where there are any, is the first of the others.
  let results = (outs Seq_Tensor:$y, Seq_StaticTensor:$next_keys,
    Variadic<Seq_StaticTensor>:$next_states);  /*att4*/
  let assemblyFormat = [{
    $q `,` $k (`,` $v^)? `positions` `(` $positions `)`
    (`sink_query` `(` $sink_query^ `)`)? (`numbers` `(` $d^ `)`)?
    (`blocks` `(` $blocks^ `)`)?
    (`sinks` `(` $sinks^ `)`)? (`slopes` `(` $slopes^ `)`)?
    `states` `(` $keys (`,` $values^ (`,` $key_scores^)?)? `)`
    (`sink_states` `(` $sink_keys^ `,` $sink_values (`,` $sink_scores^)? `)`)?
    attr-dict
    `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// How many first tokens stay in sight: the S of `sink_keys`, or 0.
    int64_t getSinkTokens() {
      return getSinkKeys() ? getSinkKeys().getType().getDimSize(0) : 0;
    }
  }];
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_ATTENTION_TD
