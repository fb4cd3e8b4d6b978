// What weights are besides the elements of one tensor: numbers that the config
// gives, rows of a tensor, numbers that follow from a tensor's. Included by
// SeqAttributes.td, which has Seq_Attr.
#ifndef EFFC_DIALECTS_SEQ_WEIGHTRULES_TD
#define EFFC_DIALECTS_SEQ_WEIGHTRULES_TD

def Seq_RotaryFrequenciesAttr
    : Seq_Attr<"RotaryFrequencies", "rotary_frequencies", [
        DeclareAttrInterfaceMethods<Seq_ComputedWeightInterface,
                                    ["verifyCount", "hasRows", "computeRow"]>]> {
  let summary = "Frequencies of rotary positions, by a rule of public configs";
  let description = [{
    Radians per position of `P` pairs, with `theta` what configs call `rope_theta`:

    ```
    f_i = theta^(-i / P)                                       i = 0 .. P-1
    default    f_i
    linear     f_i / factor
    dynamic    f_i with theta (factor c / o - factor + 1)^(P / (P - 1)) for theta,
               where c = max(planned_context, o)
    dynamic_steps  the same with c = max(p + 1, o) for the token at position p:
               a row for each position
    llama3     f_i / factor where the wave is longer than o / low, f_i where it
               is shorter than o / high, in between
               (1 - s) f_i / factor + s f_i, s = (o f_i / 2 pi - low) / (high - low)
    yarn       r f_i / factor + (1 - r) f_i, r from 0 to 1 between the pairs that
               turn `high` times and `low` times in o positions, outwards to
               whole pairs
    longrope   f_i / divisors[i]
    longrope_steps  f_i / divisors[i] for the token at position p below o, else
               f_i / divisors[P + i]: a row for each position
    ```

    with `o` the `original_context`, for which the model was trained. Public code
    follows the length that a sequence has in each call, and leaves keys as earlier
    calls have turned them. One token a call gives `dynamic_steps`: whatever comes in
    one call with it, a token here is turned for the length up to itself. A prompt
    that is longer than `o` and comes to public code in one call is turned for its
    whole length there, so that the result depends on how it is cut; `dynamic` is that
    for a length known beforehand, and keeps to it. `longrope` comes with two lists of divisors, one for contexts up to `o` and one for longer ones, of which
    `divisors` is the one that applies; `longrope_steps` has both, the first one first, and is again what one token a call gives. The amplitude that `yarn` and `longrope`
    come with belongs to `seq.rotary`: as configured, else 1 + 0.1 ln factor and
    sqrt(1 + ln factor / ln o).

    Constraints:

    * (FREQUENCIES1) `theta` is finite and above 0; `factor` is finite and at
      least 1, absent for `default`, `longrope` and `longrope_steps`.
    * (FREQUENCIES2) `original_context` is at least 1 for `dynamic`, `dynamic_steps`,
      `llama3`, `yarn` and `longrope_steps`; `planned_context` is at least 1 for `dynamic` and 0 for
      `dynamic_steps`.
    * (FREQUENCIES3) `low` and `high` are above 0 and differ, for `llama3` and
      `yarn` alone.
    * (FREQUENCIES4) `divisors` are present for `longrope` and `longrope_steps` alone,
      each above 0.

    Example:

    ```mlir
    #seq.rotary_frequencies<scaling = llama3, theta = 5.0e5 : f64, factor = 8.0 : f64,
                            original_context = 8192, low = 1.0 : f64, high = 4.0 : f64>
    ```

    Source: `ROPE_INIT_FUNCTIONS` of Hugging Face transformers 5; Peng et al.,
    arXiv:2309.00071 (yarn); Ding et al., arXiv:2402.13753 (longrope).
  }];
  let parameters = (ins
    EnumParameter<Seq_RotaryScaling>:$scaling,
    "::mlir::FloatAttr":$theta,                                  /*frequencies1*/
    OptionalParameter<"::mlir::FloatAttr">:$factor,              /*frequencies1*/
    DefaultValuedParameter<"int64_t", "0">:$original_context,    /*frequencies2*/
    DefaultValuedParameter<"int64_t", "0">:$planned_context,     /*frequencies2*/
    OptionalParameter<"::mlir::FloatAttr">:$low,                 /*frequencies3*/
    OptionalParameter<"::mlir::FloatAttr">:$high,                /*frequencies3*/
    OptionalParameter<"::mlir::DenseF64ArrayAttr">:$divisors);   /*frequencies4*/
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Seq_HeadDecaysAttr
    : Seq_Attr<"HeadDecays", "head_decays", [
        DeclareAttrInterfaceMethods<Seq_ComputedWeightInterface,
                                    ["verifyCount"]>]> {
  let summary = "Constant decays of heads, by a rule of public models";
  let description = [{
    The log-decay per token, nats, of heads `h = 0 .. H-1`:

    ```
    retention  log(1 - 2^(-5 - h))
    alibi      -f s_h, s_h = 2^(-8 (h + 1) / H) where H is a power of two; else the
               slopes of the power of two P below H, then every other one of those
               of 2 P, from the first on
    powers     -f 2^(-8 (h + 1) / H)
    lengths    -f / n_h, n_h in equal ratios from 2 to 256
    linear     -8 h / H (1 - layer / layers)
    ```

    `f` follows from a layer's place among all `layers` of the model, those of
    other kinds included, and is 1 without `layers`:

    ```
    alibi, lengths  1 - layer / (layers - 1) + 1e-5
    powers          1 - layer / (layers - 1 + 1e-5) + 1e-5
    ```

    `negated` gives the numbers themselves without the sign: what `seq.attention`
    takes as `slopes`. Checkpoints hold none of these numbers, or hold them as
    buffers that public code computes again.

    | model                      | rule        |
    |----------------------------|-------------|
    | RetNet                     | `retention` |
    | TransNormerLLM             | `alibi`     |
    | Ling 2.5, Ring 2           | `alibi`, with the layer before each |
    | MiniMax-Text-01            | `powers`    |
    | xmixers' TNL               | `lengths`   |
    | flash-linear-attention's lightning attention | `linear` |

    Constraints:

    * (DECAYS1) `layer` is at least 0, or -1 for `alibi`, and below `layers`; without
      `layers` it is 0.
    * (DECAYS2) There are no `layers` for `retention`, and there are for `linear`.
    * (DECAYS3) `layers` is at least 2 for `alibi` and `lengths`, which divide by
      one less; `lengths` has at least two heads for the same reason.

    Example:

    ```mlir
    #seq.head_decays<rule = alibi, layer = 3, layers = 24>
    ```

    Source: Sun et al., arXiv:2307.08621 (retention); Press et al.,
    arXiv:2108.12409 (slopes); Qin et al., arXiv:2307.14995, and the code of
    TransNormerLLM, transformers' minimax, xmixers and flash-linear-attention.
  }];
  let parameters = (ins
    EnumParameter<Seq_DecayRule>:$rule,                   /*decays2, decays3*/
    DefaultValuedParameter<"int64_t", "0">:$layer,        /*decays1*/
    DefaultValuedParameter<"int64_t", "0">:$layers,       /*decays1, decays2, decays3*/
    DefaultValuedParameter<"bool", "false">:$negated);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Seq_RowNumbersAttr
    : Seq_Attr<"RowNumbers", "row_numbers", [
        DeclareAttrInterfaceMethods<Seq_ComputedWeightInterface,
                                    ["hasRows", "getRowCount", "computeRow"]>]> {
  let summary = "Rows of one number each";
  let description = [{
    Row `i` has `numbers[i]` in each of its columns. As taps of a
    `seq.short_convolution` such rows shift tokens: `[1, 0]` is the token before, and
    `[1, -1]` what separates it from the token itself.

    Constraints:

    * (ROW_NUMBERS1) There is at least one number, and each is finite.

    Example:

    ```mlir
    #seq.row_numbers<numbers = [1.0, -1.0]>
    ```
  }];
  let parameters = (ins "::mlir::DenseF64ArrayAttr":$numbers);  /*row_numbers1*/
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Seq_PositionScalesAttr
    : Seq_Attr<"PositionScales", "position_scales", [
        DeclareAttrInterfaceMethods<Seq_ComputedWeightInterface,
                                    ["hasRows", "computeRow"]>]> {
  let summary = "A factor for each position, which grows by steps";
  let description = [{
    The row of position `p` has one number in each of its columns:

    ```
    1 + beta * log(1 + floor(p / original_context))
    ```

    Queries of Llama 4 and Ministral 3 are multiplied with it, so that scores of
    long contexts stay apart.

    Constraints:

    * (POSITION_SCALES1) `beta` is finite and at least 0; `original_context` is at
      least 1.

    Example:

    ```mlir
    #seq.position_scales<beta = 0.1 : f64, original_context = 16384>
    ```

    Source: `get_llama_4_attn_scale` of Hugging Face transformers 5.24.
  }];
  let parameters = (ins
    "::mlir::FloatAttr":$beta,                            /*position_scales1*/
    "int64_t":$original_context);                         /*position_scales1*/
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Seq_FenwickLevelsAttr
    : Seq_Attr<"FenwickLevels", "fenwick_levels", [
        DeclareAttrInterfaceMethods<Seq_ComputedWeightInterface,
                                    ["verifyCount", "hasRows", "computeRow"]>]> {
  let summary = "What each position does to the levels of a Fenwick tree";
  let description = [{
    The tokens before position `p` lie in buckets of a power of two each, one for
    every bit of `p` that is set. Level 0 is the token itself, level `l` above it has
    the bucket of `2^(l-1)` tokens, if there is one. In each `2^l` positions such a
    level takes in the first half and is read by the second, and is then empty. The
    row of position `p` has one number for each level `l`, with `bit` that of
    `2^(l-1)`:

    ```
    written    1 where l = 0 or the bit is not set, else 0
    read       1 where l = 0 or the bit is set, else 0
    forgotten  -1e30 where 2^l divides p, else 0: a log-decay
    ```

    So a state for each level, gated by these numbers, is a linear recurrence of its
    own, and log-linear attention is a weighted sum of what they read.

    Constraints:

    * (FENWICK_LEVELS1) A row has at most 32 levels.

    Example:

    ```mlir
    #seq.fenwick_levels<number = written>
    ```

    Source: Guo et al., arXiv:2506.04761, whose levels these are.
  }];
  let parameters = (ins EnumParameter<Seq_FenwickNumber>:$number);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Seq_RowGroupsAttr : Seq_Attr<"RowGroups", "row_groups"> {
  let summary = "Which rows of a tensor a weight has";
  let description = [{
    A tensor whose rows come in `count` groups of `stride`; of each, the `size` rows
    from `offset` on:

    ```
    row b size + i of the weight = row b stride + offset + i of the tensor
    ```

    So a query is cut from `[queries; keys; values]` with one group, and from the
    triples of each head in turn with a group for each head.

    Constraints:

    * (ROW_GROUPS1) `offset` is at least 0, `size` and `count` are at least 1, and
      `offset + size` is at most `stride`.

    Example:

    ```mlir
    #seq.row_groups<offset = 8, size = 8, stride = 24, count = 3>
    ```
  }];
  let parameters = (ins "int64_t":$offset, "int64_t":$size, "int64_t":$stride,
    "int64_t":$count);                                    /*row_groups1*/
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Seq_DerivationAttr : Seq_Attr<"Derivation", "derivation"> {
  let summary = "A weight's numbers from those of a tensor, by a rule of public models";
  let description = [{
    With `x` the tensor, element by element, or for `lower_bound` a row of it for each
    layer of the model, or for `repeated` a row of `K` for each head:

    ```
    negated_exponential   -e^x[i]
    lower_bound           sum_{l = 1 .. layer} e^x[l,i] / sum_{l} e^x[l,i]
    repeated              y[h,v,k] = x[h,k]
    ```

    The first is RWKV4's log-decay. The second is the least value of the forget gates
    of HGRN and HGRN2 in a layer: 0 in layer 0, and higher from layer to layer. With
    the third a product with blocks gives each value channel of a head one weighted
    sum over its key channels: RWKV7's bonus.

    Constraints:

    * (DERIVATION1) `layer` is at least 0, and 0 but for `lower_bound`.

    Example:

    ```mlir
    #seq.derivation<rule = lower_bound, layer = 3>
    ```

    Source: Peng et al., arXiv:2305.13048 and arXiv:2503.14456; Qin et al.,
    arXiv:2404.07904, and the code of transformers and of flash-linear-attention.
  }];
  let parameters = (ins
    EnumParameter<Seq_DerivationRule>:$rule,              /*derivation1*/
    DefaultValuedParameter<"int64_t", "0">:$layer);       /*derivation1*/
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The numbers of a weight of `shape` from those of its tensor, in double.
    ::llvm::SmallVector<double> derive(::llvm::ArrayRef<double> tensor,
                                       ::llvm::ArrayRef<int64_t> shape) const;
  }];
}

#endif // EFFC_DIALECTS_SEQ_WEIGHTRULES_TD
