// Weights: named in the module, referred to where they are used.
#ifndef EFFC_DIALECTS_SEQ_OPS_WEIGHTS_TD
#define EFFC_DIALECTS_SEQ_OPS_WEIGHTS_TD

include "dialects/seq/SeqAttributes.td"
include "mlir/IR/SymbolInterfaces.td"

def Seq_ComputedWeight
    : Attr<CPred<"::llvm::isa<::effc::seq::ComputedWeightInterface>($_self)">,
           "a rule that gives a weight's numbers"> {
  let storageType = "::effc::seq::ComputedWeightInterface";
  let returnType = "::effc::seq::ComputedWeightInterface";
  let convertFromStorage = "$_self";
}

def Seq_WeightOp : Seq_Op<"weight", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "Name a tensor of the checkpoint, or one that its config gives";
  let description = [{
    Declares a weight of the model: `sym_name` is its name in effc, `source` the
    tensor's name in the checkpoint, `type` shape and element type as the
    artifact stores it and the model uses it. The values stay in the checkpoint:
    no op of the dialect holds a constant of the model.

    `transposed` says that the checkpoint holds the transpose: once dimensions
    of size 1 are dropped, its two dimensions are those of `type` exchanged, or the
    last two of three. It is turned when the artifact is written, so that tables of
    positions that lie as `H,P`, `1,P` or `P` are the `P,H` that `seq.embedding`
    takes; `--weights reference` embeds what is small and refuses the rest.

    A weight may be made of several tensors: those that `then` names follow the first
    along the first dimension, each with an equal share of it, as experts lie that a
    checkpoint holds one by one; where they are turned, along the last one. `stored`
    is the shape in which the checkpoint holds each tensor, where that is another one
    with the same elements in the same order: `H,K` as a vector, `E,F,D` as a matrix.
    Dimensions of size 1 need no mention.
    `rows` are the rows it has of one tensor that holds several weights, counted as
    they lie there, whether or not they are then turned.
    A `derived` weight follows from the numbers of its tensor by the rule of
    `#seq.derivation`, computed in double and rounded to f32.

    `panels` says that the artifact has the matrix in panels (`!storage.panel`), as the
    host's products of integers want it; its blocks are those of `type`. `bundles` says
    that rows lie in bundles of so many blocks, first their codes and then their scales
    (dialects/storage/Bundles.h), as loads of a GPU want them.

    A weight that is `computed` follows from numbers of the config by the rule of an
    attribute, `#seq.rotary_frequencies` or `#seq.head_decays`, rounded to f32; it
    has no source and is embedded in the artifact.

    `channel_order` says that the numbers are those of channels, which
    `seq.permute_channels` takes: they say how another weight lies, and are no
    parameters of the model.

    Constraints:

    * (WEIGHT1) `type` is a static f32 tensor or a 2-D or 3-D static stored
      tensor, with positive dimensions.
    * (WEIGHT2) `source` is not empty, except for a `computed` weight, which has
      none.
    * (WEIGHT3) A `transposed` weight has two or three dimensions.
    * (WEIGHT4) A `computed` weight has one dimension, of as many f32 as its rule
      can give, and one for positions before it where the rule gives a row for each.
    * (WEIGHT5) `then` names tensors for a weight that has a `source` and whose
      first dimension they divide evenly, of a `transposed` one its last of two.
    * (WEIGHT6) `stored` has the elements of one of the tensors; it is absent for a
      `transposed` and for a `computed` weight.
    * (WEIGHT7) A `derived` weight is f32 and of one tensor that is not `transposed`;
      for `lower_bound` its `stored` is a row of the weight's elements for each layer,
      and `layer` is one of them; for `repeated` it is `H,V,K` and `stored` is `H,K`.
    * (WEIGHT8) A weight of `rows` has as many of them as these have, and is of one
      tensor that is not `derived`; `stored` beside them has the elements of all rows
      they are counted in. A `transposed` one has its rows as the last dimension. One
      of three dimensions may have a matrix for each group of rows, and has if it is
      `transposed`.
    * (WEIGHT9) A weight in `panels` is a matrix of blocks of which there are panels.
    * (WEIGHT10) A weight in `bundles` is one of blocks whose last dimension has whole
      bundles, and does not lie in `panels`.
    * (WEIGHT11) A `channel_order` is f32 and has one dimension.

    Example:

    ```mlir
    seq.weight @layers.0.in_proj source("backbone.layers.0.mixer.in_proj.weight")
        : tensor<3352x768xbf16>
    seq.weight @layers.0.conv source("backbone.layers.0.mixer.conv1d.weight")
        transposed : tensor<4x1792xf32>
    seq.weight @experts source("experts.0.up") then ["experts.1.up"] : tensor<6x5xbf16>
    seq.weight @positions source("heads.0.weight") then ["heads.1.weight"] transposed
        : tensor<540x2xf32>
    seq.weight @bonus source("bonus") stored [3, 4] : tensor<12xf32>
    seq.weight @query source("qkv") rows(#seq.row_groups<offset = 0, size = 8,
        stride = 24, count = 3>) : tensor<24x5xbf16>
    seq.weight @turned source("conv1d") rows(#seq.row_groups<offset = 6, size = 6,
        stride = 18, count = 1>) transposed : tensor<4x6xf32>
    seq.weight @values source("kv_b") rows(#seq.row_groups<offset = 4, size = 7,
        stride = 11, count = 3>) : tensor<3x7x5xf32>
    seq.weight @decay source("decay") derived(#seq.derivation<rule = negated_exponential>)
        : tensor<12xf32>
    seq.weight @frequencies computed(#seq.rotary_frequencies<scaling = default,
        theta = 1.0e4 : f64>) : tensor<32xf32>
    seq.weight @decays computed(#seq.head_decays<rule = retention>) : tensor<6xf32>
    seq.weight @order source("q.input_order") channel_order : tensor<96xf32>
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    DefaultValuedStrAttr<StrAttr, "">:$source,               /*weight2*/
    TypeAttrOf<Seq_Weight>:$type,                            /*weight1*/
    OptionalAttr<StrArrayAttr>:$further,                     /*weight5*/
    OptionalAttr<DenseI64ArrayAttr>:$stored,                 /*weight6, weight7*/
    OptionalAttr<Seq_RowGroupsAttr>:$rows,                   /*weight8*/
    OptionalAttr<Seq_DerivationAttr>:$derived,               /*weight7*/
    UnitAttr:$transposed,                                    /*weight3, weight5, weight6, weight7, weight8*/
    OptionalAttr<Seq_ComputedWeight>:$computed,              /*weight2, weight4*/
    UnitAttr:$panels,                                        /*weight9, weight10*/
    DefaultValuedAttr<I64Attr, "0">:$bundles,                /*weight10*/
    UnitAttr:$channel_order);                                /*weight11*/
  let assemblyFormat = [{
    $sym_name (`source` `(` $source^ `)`)? (`then` $further^)?
    (`stored` $stored^)? (`rows` `(` $rows^ `)`)? (`derived` `(` $derived^ `)`)?
    (`computed` `(` $computed^ `)`)?
    (`transposed` $transposed^)? (`panels` $panels^)?
    (`bundles` `(` $bundles^ `)`)? (`channel_order` $channel_order^)?
    attr-dict `:` $type
  }];
  let extraClassDeclaration = [{
    /// The tensors of the checkpoint that it is made of, in their order; none for
    /// one that is computed.
    ::llvm::SmallVector<::llvm::StringRef> getSources();
    /// What the artifact stores its elements as.
    ::mlir::Type getStoredElement();
    /// Whether that is no longer the type's own.
    bool isReordered() { return getPanels() || getBundles(); }
    /// Whether its elements are all those of one tensor, in the same order or
    /// turned.
    bool isOneTensor() { return !getFurther() && !getRows() && !getDerived(); }
    /// Whether each group of its `rows` is a matrix of its own.
    bool hasMatrixPerGroup();
  }];
  let hasVerifier = 1;
}

def Seq_ParameterOp
    : Seq_ValueOp<"parameter",
                  [DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                   Seq_BetweenKernels]> {
  let summary = "Use a weight";
  let description = [{
    The value of a weight that the module declares.

    Constraints:

    * (PARAMETER1) `weight` names a `seq.weight` of the module.
    * (PARAMETER2) `result` has the type of that weight.

    Example:

    ```mlir
    %w = seq.parameter @layers.0.in_proj : tensor<3352x768xbf16>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$weight);   /*parameter1*/
  let results = (outs Seq_Weight:$result);           /*parameter2*/
  let assemblyFormat = "$weight attr-dict `:` type($result)";
}

#endif // EFFC_DIALECTS_SEQ_OPS_WEIGHTS_TD
