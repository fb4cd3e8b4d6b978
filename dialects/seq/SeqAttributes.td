// The dialect's attributes: structure of a mixer, form, entry, states, model.
#ifndef EFFC_DIALECTS_SEQ_SEQATTRIBUTES_TD
#define EFFC_DIALECTS_SEQ_SEQATTRIBUTES_TD

include "dialects/seq/SeqAttrInterfaces.td"
include "dialects/seq/SeqBase.td"
include "dialects/seq/SeqEnums.td"
include "mlir/IR/AttrTypeBase.td"

class Seq_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Seq_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Seq_ActivationAttr : EnumAttr<Seq_Dialect, Seq_Activation, "activation"> {
  let assemblyFormat = "`<` $value `>`";
}

def Seq_NonlinearityAttr
    : EnumAttr<Seq_Dialect, Seq_Nonlinearity, "nonlinearity"> {
  let assemblyFormat = "`<` $value `>`";
}

def Seq_NormMeasureAttr
    : EnumAttr<Seq_Dialect, Seq_NormMeasure, "norm_measure"> {
  let assemblyFormat = "`<` $value `>`";
}

def Seq_WeightingAttr
    : EnumAttr<Seq_Dialect, Seq_RetrievalWeighting, "weighting"> {
  let assemblyFormat = "`<` $value `>`";
}

def Seq_KeyLayoutAttr : EnumAttr<Seq_Dialect, Seq_KeyLayout, "key_layout"> {
  let assemblyFormat = "`<` $value `>`";
}

def Seq_LinearAttr : Seq_Attr<"Linear", "linear"> {
  let summary = "Structure record of a linear recurrence";
  let description = [{
    What distinguishes one linear recurrence from another. With `S` the state
    of a head (`K` x `V`) and `D` the decay broadcast along `decay`'s axis:

    ```
    S' = D . S                       (decay, field)
    S  = S' + low-rank pair + (gated k) (x) (gated v)
                                     (low_rank, input_gate)
    o  = q S + bonus + feed-through  (read, bonus, feed_through)
    y  = o / normaliser              (normaliser, stabiliser)
    ```

    `heads_per_group` is `H / G`: how many heads share one query and one key.
    A token of `writes` above 1 makes the second line so often, each time of what
    the time before left.

    Constraints:

    * (LIN1) `heads_per_group` is at least 1.
    * (LIN2) `writes` is at least 1, as it is where none is given.

    Example:

    ```mlir
    #seq.linear<decay = head, field = real, input_gate = value,
                low_rank = none, read = after_write, bonus = false,
                feed_through = true, normaliser = none, stabiliser = none,
                heads_per_group = 3>
    ```
  }];
  let parameters = (ins
    EnumParameter<Seq_DecayAxis>:$decay,
    EnumParameter<Seq_DecayField>:$field,
    EnumParameter<Seq_InputGate>:$input_gate,
    EnumParameter<Seq_LowRankPair>:$low_rank,
    EnumParameter<Seq_ReadOrder>:$read,
    "bool":$bonus,
    "bool":$feed_through,
    EnumParameter<Seq_Normaliser>:$normaliser,
    EnumParameter<Seq_Stabiliser>:$stabiliser,
    "int64_t":$heads_per_group,             /*lin1*/
    DefaultValuedParameter<"int64_t", "1", "products that a token adds">:$writes); /*lin2*/
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Seq_RetrievalAttr : Seq_Attr<"Retrieval", "retrieval"> {
  let summary = "Structure record of a retrieval";
  let description = [{
    What distinguishes one retrieval from another. A head scores `N = S^axes`
    rows; row `n = i S + j` of two axes has the sum of the scores of key `i` on
    the first axis and of key `j` on the second. Each of `heads` heads chooses
    its best `top_k` rows, those scores become weights, and what the rows stand
    for is summed over all heads with these weights:

    ```
    y = sum over chosen rows: w row                       (content = row)
                              w f(x . down) up            (content = neuron)
                              w down (f(gate x) * (up x)) (content = network)
    ```

    `f` is `nonlinearity`; with `weight_inside` a neuron is `f(w (x . down)) up`.

    Constraints:

    * (RET1) `axes` is 1 or 2; `heads` and `top_k` are at least 1.
    * (RET2) `weight_inside` is for the content `neuron` alone.

    Example:

    ```mlir
    #seq.retrieval<axes = 2, heads = 3, top_k = 4, weighting = softmax,
                   content = neuron, nonlinearity = silu, weight_inside = false>
    ```
  }];
  let parameters = (ins
    "int64_t":$axes,                        /*ret1*/
    "int64_t":$heads,                       /*ret1*/
    "int64_t":$top_k,                       /*ret1*/
    EnumParameter<Seq_RetrievalWeighting>:$weighting,
    EnumParameter<Seq_RetrievalContent>:$content,
    EnumParameter<Seq_Nonlinearity>:$nonlinearity,
    "bool":$weight_inside);                 /*ret2*/
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Seq_ReduceKindAttr
    : EnumAttr<Seq_Dialect, Seq_ReduceKind, "reduce_kind">;

def Seq_RotaryPairsAttr
    : EnumAttr<Seq_Dialect, Seq_RotaryPairs, "rotary_pairs">;

include "dialects/seq/WeightRules.td"

def Seq_KeyScoreAttr : EnumAttr<Seq_Dialect, Seq_KeyScore, "key_score"> {
  let assemblyFormat = "`<` $value `>`";
}

def Seq_BlockScoreAttr : EnumAttr<Seq_Dialect, Seq_BlockScore, "block_score"> {
  let assemblyFormat = "`<` $value `>`";
}

def Seq_WindowAttr : Seq_Attr<"Window", "window"> {
  let summary = "Structure record of a softmax over a window of keys";
  let description = [{
    What distinguishes one softmax mixer from another. A query at position `p`
    sees the keys at positions `p - window + 1` to `p`, all up to `p` where
    `window` is 0:

    ```
    s = scale (q . k)                  (scale)
    s = soft_cap tanh(s / soft_cap)    (soft_cap)
    s = s + slope (position of k - p)  (slopes)
    s = s + d, or s d, or -inf where d < 1, with d a number of the key
                                       (key_score)
    o = sum of e^s v / (e^sink + sum of e^s)   (sinks)
    ```

    where `keep` is not 0, only the `keep` keys with the largest `d` count, ties
    to the lower position. `heads_per_key` and `heads_per_value` say how many
    heads share one key and one value. The keys of the first `sink_tokens` tokens
    stay in sight, for a query of their own and at a distance of at most
    `sink_tokens + window - 1`. Where `block` is not 0, the key at position `j` counts
    for a query that has chosen block `j / block`, and only then.

    Constraints:

    * (WIN1) `window` and `keep` are at least 0, `keep` is 0 where `key_score` is
      `none`.
    * (WIN2) `scale` is finite; `soft_cap` is finite and at least 0, and 0 where
      scores have no cap.
    * (WIN3) `heads_per_key` and `heads_per_value` are at least 1, and one divides
      the other.
    * (WIN4) `sink_tokens` is at least 0, and 0 where `window` is.
    * (WIN5) `block` is at least 0, and 0 where `window` or `keep` is not.

    Example:

    ```mlir
    #seq.window<window = 4, scale = 0.125 : f64, soft_cap = 0.0 : f64,
                sinks = false, slopes = false, key_score = none, keep = 0, heads_per_key = 3,
                heads_per_value = 3>
    ```
  }];
  let parameters = (ins
    "int64_t":$window,                      /*win1*/
    "::mlir::FloatAttr":$scale,             /*win2*/
    "::mlir::FloatAttr":$soft_cap,          /*win2*/
    "bool":$sinks,
    "bool":$slopes,
    EnumParameter<Seq_KeyScore>:$key_score,
    "int64_t":$keep,                        /*win1*/
    "int64_t":$heads_per_key,               /*win3*/
    "int64_t":$heads_per_value,             /*win3*/
    DefaultValuedParameter<"int64_t", "0">:$sink_tokens,   /*win4*/
    DefaultValuedParameter<"int64_t", "0">:$block);        /*win5*/
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Seq_StructureAttr : Seq_Attr<"Structure", "structure"> {
  let summary = "Class of a mixer and the structure record of that class";
  let description = [{
    All that decides how a mixer's forms are derived. A mixer of class `linear`
    carries its `#seq.linear`, one of class `retrieval` its `#seq.retrieval`, one
    of class `window` its `#seq.window`; the other classes carry no record.

    Constraints:

    * (STR1) The record of the class is present, and no other.

    Example:

    ```mlir
    #seq.structure<class = opaque>
    ```
  }];
  let parameters = (ins
    EnumParameter<Seq_MixerClass>:$mixer_class,
    OptionalParameter<"::effc::seq::LinearAttr">:$linear,       /*str1*/
    OptionalParameter<"::effc::seq::RetrievalAttr">:$retrieval, /*str1*/
    OptionalParameter<"::effc::seq::WindowAttr">:$window);      /*str1*/
  let assemblyFormat = [{
    `<` `class` `=` $mixer_class ``
    custom<Records>($linear, $retrieval, $window) `>`
  }];
  let builders = [
    AttrBuilder<(ins "::effc::seq::LinearAttr":$linear), [{
      return $_get($_ctxt, MixerClass::Linear, linear, RetrievalAttr(),
                   WindowAttr());
    }]>,
    AttrBuilder<(ins "::effc::seq::RetrievalAttr":$retrieval), [{
      return $_get($_ctxt, MixerClass::Retrieval, LinearAttr(), retrieval,
                   WindowAttr());
    }]>,
    AttrBuilder<(ins "::effc::seq::WindowAttr":$window), [{
      return $_get($_ctxt, MixerClass::Window, LinearAttr(), RetrievalAttr(),
                   window);
    }]>
  ];
  let genVerifyDecl = 1;
}

def Seq_FormAttr : Seq_Attr<"Form", "form"> {
  let summary = "The form in which a mixer is to be computed";
  let description = [{
    `step` runs the recurrence token by token, `quadratic` takes all tokens as
    one block, `chunkwise` blocks of `chunk` tokens with the state between them,
    `scan` combines stretches of tokens in pairs, twice as long each round.

    Constraints:

    * (FORM1) `chunk` is at least 1 for `chunkwise` and absent otherwise.

    Example:

    ```mlir
    #seq.form<kind = chunkwise, chunk = 64>
    ```
  }];
  let parameters = (ins
    EnumParameter<Seq_FormKind>:$kind,
    DefaultValuedParameter<"int64_t", "0", "tokens of a chunk">:$chunk);  /*form1*/
  let assemblyFormat = "`<` `kind` `=` $kind (`,` `chunk` `=` $chunk^)? `>`";
  let genVerifyDecl = 1;
}

def Seq_EntryAttr : Seq_Attr<"Entry", "entry"> {
  let summary = "Entry point that a function implements";
  let description = [{
    `rows` is the capacity of one call in packed rows: tokens of any number of
    sequences for `prefill`, one token each of at most `rows` sequences for
    `decode`.

    Constraints:

    * (ENTRY1) `rows` is at least 1.

    Example:

    ```mlir
    #seq.entry<kind = prefill, rows = 64>
    ```
  }];
  let parameters = (ins
    EnumParameter<Seq_EntryKind>:$kind,
    "int64_t":$rows);                       /*entry1*/
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Seq_TapAttr : Seq_Attr<"Tap", "tap"> {
  let summary = "An inner value in the rows that a model gives in place of logits";
  let description = [{
    `effc compile --tap` makes models whose rows hold inner values one after another.
    `name` says which value it is; `shape` is that of one token's numbers, so that their
    product is the columns that the value takes of a row.

    Constraints:

    * (TAP1) `name` is not empty.
    * (TAP2) `shape` has dimensions of at least 1.

    Example:

    ```mlir
    #seq.tap<name = "layers.0.mixer:dt", shape = [24]>
    ```
  }];
  let parameters = (ins
    StringRefParameter<"which value">:$name,                /*tap1*/
    ArrayRefParameter<"int64_t">:$shape);                   /*tap2*/
  let assemblyFormat = "`<` `name` `=` $name `,` `shape` `=` `[` $shape `]` `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// How many numbers of a row are its own.
    int64_t getColumns() const;
  }];
}

def Seq_StateAttr : Seq_Attr<"State", "state"> {
  let summary = "One state in the slot of a sequence";
  let description = [{
    The logical state and the bytes it occupies: `type` gives shape and element
    type, `neutral` the value every element has before the first token, `offset`
    the distance in bytes from the start of a slot. A state of `fixed` growth may have
    a row for every `positions_per_row` positions of the longest context, such as sums
    of blocks; without the field the context does not decide its size.

    Constraints:

    * (STATE1) `name` is not empty.
    * (STATE2) `type` has positive static dimensions.
    * (STATE3) `neutral` has the element type of `type`.
    * (STATE4) `offset` is at least 0.
    * (STATE5) `positions_per_row` is at least 0, and 0 unless `growth` is `fixed`.

    Example:

    ```mlir
    #seq.state<name = "layers.0.conv", kind = tail, growth = fixed,
               type = tensor<3x1792xf32>, neutral = 0.0 : f32, offset = 256>
    ```
  }];
  let parameters = (ins
    StringRefParameter<"name of the state">:$name,          /*state1*/
    EnumParameter<Seq_StateKind>:$kind,
    EnumParameter<Seq_StateGrowth>:$growth,
    "::mlir::RankedTensorType":$type,                       /*state2*/
    "::mlir::FloatAttr":$neutral,                           /*state3*/
    "int64_t":$offset,                                      /*state4*/
    DefaultValuedParameter<"int64_t", "0">:$positions_per_row); /*state5*/
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Bytes of the state's elements, without padding.
    int64_t getSizeBytes() const;
  }];
}

def Seq_StateLayoutAttr : Seq_Attr<"StateLayout", "state_layout"> {
  let summary = "All states of one sequence, as bytes of its slot";
  let description = [{
    Constraints:

    * (LAYOUT1) No two states share a name.
    * (LAYOUT2) States follow one another: each starts at or past the end of
      the one before.
    * (LAYOUT3) The last state ends at or before `slot_bytes`.

    Example:

    ```mlir
    #seq.state_layout<slot_bytes = 512, states = [
      #seq.state<name = "layers.0.conv", kind = tail, growth = fixed,
                 type = tensor<3x10xf32>, neutral = 0.0 : f32, offset = 0>,
      #seq.state<name = "layers.0.ssd", kind = matrix, growth = fixed,
                 type = tensor<2x3x5xf32>, neutral = 0.0 : f32, offset = 128>]>
    ```
  }];
  let parameters = (ins
    "int64_t":$slot_bytes,                                             /*layout3*/
    OptionalArrayRefParameter<"::effc::seq::StateAttr">:$states);      /*layout1, layout2*/
  let assemblyFormat = [{
    `<` `slot_bytes` `=` $slot_bytes `,` `states` `=` `[` (`]`) : ($states^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
}

def Seq_ModelAttr : Seq_Attr<"Model", "model"> {
  let summary = "What the model is, for the artifact and its users";
  let description = [{
    `max_context` is the number of positions a growing state is made for, 0
    where every state has a fixed size. `vocabulary` and `width` are those of
    `@forward`, which `seq-specialize-entries` checks: as many rows of embeddings
    and as many logits at least, and tokens of this width.

    Constraints:

    * (MODEL1) `family` is not empty.
    * (MODEL2) `vocabulary` and `width` are at least 1, `max_context` at least 0.

    Example:

    ```mlir
    #seq.model<family = "mamba2", vocabulary = 1024, width = 192, max_context = 0>
    ```
  }];
  let parameters = (ins
    StringRefParameter<"family of the model">:$family,      /*model1*/
    "int64_t":$vocabulary,                                  /*model2*/
    "int64_t":$width,
    "int64_t":$max_context);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // EFFC_DIALECTS_SEQ_SEQATTRIBUTES_TD
