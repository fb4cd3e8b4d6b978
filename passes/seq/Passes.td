//===- Passes.td - passes on the seq dialect ------------------------------===//
#ifndef EFFC_PASSES_SEQ_PASSES_TD
#define EFFC_PASSES_SEQ_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlanStatePass : Pass<"seq-plan-state", "::mlir::ModuleOp"> {
  let summary = "Give every recurrent state a byte offset in its sequence's slot";
  let description = [{
    A slot holds all recurrent states of one sequence. Walks the state arguments
    of the model function in order and places each at the next multiple of
    `alignment`; records the whole as `seq.state_layout` on the module. What a
    state is (kind, growth, neutral value) is asked of the op that carries it.

    `matrix-type` is the type in which matrices, keys and values lie in the slot;
    kernels compute with f32 whatever it is. With less than f32 a matrix is rounded
    at the end of every call, so the results depend on how a prompt was cut
    or packed: a remark says so, which is one of a fallback with `bit-stable`. Of 8
    bits are keys and values of the host alone, with a scale for each head and token.
    Where no state gets the type, a remark of a fallback says so.

    Needs: one function with state arguments (`seq.state_name`), each carried by
    one op with static shape. Another is an error on that function.
    Keeps: everything but the attributes. Running it again changes nothing.
    Not done: states with disjoint lifetimes do not share bytes, since every
    state lives from one step to the next.

    Example: test/passes/seq/plan-state.mlir
  }];
  let options = [
    Option<"alignment", "alignment", "uint64_t", /*default=*/"64",
           "Alignment of each offset in bytes; a power of two">,
    Option<"matrixType", "matrix-type", "::effc::StateStorage",
           /*default=*/"::effc::StateStorage::F32",
           "Element type of stored matrices",
           [{::llvm::cl::values(
               clEnumValN(::effc::StateStorage::F32, "f32", "as computed"),
               clEnumValN(::effc::StateStorage::BF16, "bf16", "rounded at the end of a call"),
               clEnumValN(::effc::StateStorage::F16, "f16", "the same"),
               clEnumValN(::effc::StateStorage::Int8, "int8", "of keys and values alone"))}]>];
}

def ApplyMatricesPass : Pass<"seq-apply-matrices", "::mlir::ModuleOp"> {
  let summary = "Make recurrences of products with semiseparable matrices";
  let description = [{
    A `seq.apply` becomes a `seq.recurrence` whose body decays the state by the
    matrix's log-decays, writes the product of its `columns` and the token, and
    reads it with its `rows`: the class `linear`, whose step, quadratic and
    chunkwise forms are then derived as for any mixer. A `seq.apply_band` becomes
    two of them, over a ring of the last tokens. The ops that built the matrix go.

    Needs: matrices that `seq.apply` and `seq.apply_band` take.
    Keeps: every other op. Running it again changes nothing.
    Not done: sharing one state between products with one matrix.

    Example: test/passes/seq/apply-matrices.mlir
  }];
  let dependentDialects = ["::effc::seq::SeqDialect"];
}

def SplitStepsPass : Pass<"seq-split-steps", "::mlir::ModuleOp"> {
  let summary = "Take off the states of written steps that stand alone";
  let description = [{
    Of a `seq.recurrence` with several states that is not linear as a whole:

    * a state whose next value is a token operand as it stands becomes a
      `seq.token_shift`, whose result is a token operand of what is left;
    * a state that follows from no other state and is read once, by
      `(h,k), (h,k,v) -> (h,v)`, becomes a `seq.recurrence` of its own if that is
      linear, and its reading a token operand of what is left.

    A remark says which. What is left is written with the operands it uses.

    Needs: nothing. Keeps: every other op. Running it again changes nothing.
    Not done: states that are not linear stay together, and so does a state that
    is read twice.

    Example: test/passes/seq/split-steps.mlir
  }];
  let dependentDialects = ["::effc::seq::SeqDialect"];
}

def SizeContextPass : Pass<"seq-size-context", "::mlir::ModuleOp"> {
  let summary = "Make tables of all keys as long as the longest context";
  let description = [{
    The first dimension of a state that grows with the position (`max_context`) is
    the number of positions it has room for. Gives every such state room for
    `positions`, or, where that is 0, for the `max_context` of the module's
    `#seq.model`, or for as many as the shortest of them has room for, with a
    remark; rows come in blocks of 32. A state with a row for every so many positions
    gets as many rows as hold these. `max_context` becomes that number, so that
    the runtime refuses a token past it. A `seq.embedding` of the positions, a
    `seq.causal_mix` and a `seq.rotary` with frequencies for each position bound them
    too: fewer rows than the longest context has positions are an error.
    `positions` has no effect on a module where neither is, which a remark says.

    Needs: growing states that are arguments of the function of their op, or that
    another op hands on; `seq.model` where `positions` are asked for.
    Keeps: every other state. Running it again changes nothing.
    Not done: ops that read the table's rows from outside of the op that carries it
    do not follow its size.

    Example: test/passes/seq/size-context.mlir
  }];
  let options = [
    Option<"positions", "positions", "int64_t", /*default=*/"0",
           "Positions of the longest context; 0: the model's">];
}

def SpecializeEntriesPass : Pass<"seq-specialize-entries", "::mlir::ModuleOp"> {
  let summary = "Make the compiled calls from the one model function";
  let description = [{
    Clones `@forward` once per entry point, marks each clone with `#seq.entry` and
    erases the original. A prefill entry takes packed rows of any number of
    sequences, a decode entry one row of each; in both the function's leading
    dimension counts the call's rows and its meaning is `@forward` on every
    sequence's rows by themselves.

    Needs: a function `@forward`; with `seq.model`, tables and logits as long as its
    vocabulary, since kernels do not check token ids, and logits of the output
    rows alone, since the caller makes room for no others; ops that use the call's
    tokens, output rows and positions as what they are, since they have one type.
    Keeps: its body, which no entry changes.
    Not done: nothing is made static; rows are a run-time size of the kernels, so
    that the entries can share them.

    Example: test/passes/seq/specialize-entries.mlir
  }];
  let options = [
    ListOption<"prefillRows", "prefill-rows", "int64_t", "Rows of each prefill entry">,
    ListOption<"decodeRows", "decode-rows", "int64_t", "Rows of each decode entry">];
}

def ChooseFormsPass : Pass<"seq-choose-forms", "::mlir::ModuleOp"> {
  let summary = "Choose step, chunkwise, quadratic or scan for every mixer";
  let description = [{
    Sets `form` on each mixer of each entry. Decode has one token per sequence and
    takes the step. In prefill the cheaper of a fused time loop (5 K V FLOPs per
    token and head, 7 K V with a correction, at the target's `step_rate`) and chunks of
    16 to 64 tokens (4 K V + C (K + V + 40) at its `dot_rate`, 40 for an exponential of
    the mask, and more for decays per key channel and corrections) is taken; with
    `bit-stable` the time loop, since only it gives the same bits wherever a prompt is
    cut. On a GPU both count what they wait for, too: memory, barriers and products that
    add to one another, once for a token or for a chunk; chunks that would spill are for
    the asking (passes/kernel_facts/ChunkKernels.h). All tokens of
    an entry as one block are for the asking: shorter chunks cost less. What has no
    chunks is a scan on a GPU, unless bits must be stable: pieces of a sequence beside
    one another, which take two time loops. Where there are chunks a scan is for the
    asking. Each choice is a remark with the costs of all.

    Needs: `tile.target` on the module.
    Keeps: everything but the attribute.
    Not done: a retrieval is always computed by candidates, whatever the form asked
    for. What is neither linear nor a retrieval has one form, the step; for a class
    `opaque` a remark names the op that keeps it from being linear. Structures
    without a kernel for chunks or for a scan take the step, with a remark.

    Example: test/passes/seq/choose-forms.mlir
  }];
  let dependentDialects = ["::effc::tile::TileDialect"];
  let options = [
    Option<"force", "force", "std::string", /*default=*/"\"\"",
           "Form of every mixer in prefill: step, chunkwise[:C], quadratic or scan">];
}

def SplitRetrievalPass : Pass<"seq-split-retrieval"> {
  let summary = "Write each retrieval as the phases that kernels are made of";
  let description = [{
    Replaces every mixer of class `retrieval` by `seq.choose_rows` and what is
    done with the chosen rows: `seq.sum_rows` for rows and the outputs of
    one-neuron experts, `seq.expert_hidden` and `seq.expert_output` for the
    hidden units and outputs of experts. These are the ops of the form `step` of
    `seq-expand-form`, so that what is proven there is what runs.

    Keeps: every other op; a `T` may be dynamic.
    Not done: no other form; scoring all pairs never costs less.

    Example: test/passes/seq/split-retrieval.mlir
  }];
  let dependentDialects = ["::effc::seq::SeqDialect"];
}

def ChooseTokensPass : Pass<"seq-choose-tokens", "::mlir::ModuleOp"> {
  let summary = "Let decode entries give tokens too";
  let description = [{
    A caller that takes the likeliest token each time, or draws one from all, needs
    no logits. Of each decode entry the head is written once more, with the
    elementwise ops that follow it and a `seq.best` of what they give, whose result
    the entry returns behind the logits. How each row's token is drawn comes as a
    new last argument. Being one kernel (`seq-form-kernels`), the head keeps its
    logits to itself. A call computes one of the two: launches that only one of the
    results needs are marked by what wants them (`only_for` of `plan.launch`).

    Needs: entries (`seq-specialize-entries`).
    Keeps: every other op, prefill entries, and the arguments and results there are.
    Not done: logits that are not a product with elementwise ops behind it, or of
    which there are not as many as tokens in the vocabulary, are left, with a
    remark; a caller then finds or draws the token from the logits.

    Example: test/passes/seq/choose-tokens.mlir
  }];
  let dependentDialects = ["::effc::seq::SeqDialect"];
}

def FormKernelsPass : Pass<"seq-form-kernels", "::mlir::ModuleOp"> {
  let summary = "Group the ops of each entry into kernels";
  let description = [{
    Encloses every op in a `seq.kernel`. A kernel has one root (a product, a norm,
    a gather, a convolution, a mixer) and takes in the elementwise ops that follow
    as its epilogue, where the root's result has no other use, and a `seq.best` of
    what they give. Slices and reshapes cost nothing inside a kernel and are
    copied into each that reads through them. This is where fusion is decided, once;
    each epilogue is a remark. A kernel takes in no more than `max-ops` ops: an
    epilogue that long waits for its own arithmetic, so that joining it saves
    nothing, and the time to compile a kernel grows with the square of its code.

    The module's target decides what else a decode entry saves a launch by. The host
    has nothing of it.

    * On a GPU that need not be `bit_stable`, a single row's product takes in the norm
      of whole rows that it reads. So it is where nothing but products reads the norm,
      and a launch costs more than to read the row again for each of them.
    * On such a GPU a product whose rows are taken one by one, at most two, also has in
      its kernel what keeps a state of its outputs, or of some of them: a short
      convolution, or a recurrence whose channels do not meet. Both need of the tokens
      before their state alone, and an item has computed the token's channels itself. Sums of what such recurrences make
      of the same outputs follow, and a `seq.concat` of what one product's outputs
      become, whose parts are written to their places.
    * On every GPU such a recurrence reads numbers per head in the row of a table where
      the row lies, without a kernel that copies the row.

    With `convolution-prologues` a prefill entry computes the short convolution of a
    chunkwise recurrence's values in the recurrence's kernel, where nothing else reads
    them: a channel of them belongs to one item, which convolves it as it loads it.
    Where that are some of a convolution's channels, at one end, it is taken apart: the
    others, which several items read (keys and queries), stay a kernel, and the
    recurrence takes the tail that this one leaves. Each that stays is a remark, with
    its reason.

    Needs: entries (`seq-specialize-entries`), in which every op but views follows
    from the tokens: one that computes from parameters alone is an error. A module
    without `tile.target` is the host's. For `convolution-prologues` forms
    (`seq-choose-forms`): a mixer without one takes none.
    Keeps: what every value is, and the order of the roots, but for one whose
    epilogue also reads a later root's result: it moves behind that one, and for
    what joins a product or a recurrence, which moves there.
    Not done: no two roots share a kernel, those aside that are named here.

    Example: test/passes/seq/form-kernels.mlir (and form-kernels-single-rows.mlir, form-kernels-convolutions.mlir)
  }];
  let options = [
    Option<"maxOps", "max-ops", "unsigned", /*default=*/"64",
           "ops that a kernel may have, its root among them">,
    Option<"convolutionPrologues", "convolution-prologues", "bool", /*default=*/"false",
           "convolve values in the recurrences that take them, in prefill">,
  ];
}

def PackWeightsPass : Pass<"seq-pack-weights", "::mlir::ModuleOp"> {
  let summary = "Interleave the rows of matrices of blocks for the host's products";
  let description = [{
    Where the target multiplies digits, a matrix of blocks (`!storage.block`) gets
    `panels` if every kernel that reads it multiplies by it (`seq.linear`,
    `seq.lm_head`) or looks up rows (`seq.embedding`), and one multiplies. The artifact
    then has 16 rows of the matrix interleaved (`!storage.panel`): the same codes and
    scales, in the order in which a product takes them. Each matrix of blocks is a
    remark, with the reason where it stays in rows; one of a fallback where something
    multiplies by parts of it that are no panels, which unpacks them to f32.

    Needs: kernels (`seq-form-kernels`), and that no other target reads the weights. A
    module whose target has no `digits` stays as it is.
    Keeps: every op; only the attribute is set. Running it again changes nothing but
    for the remarks.
    Not done: matrices of blocks of channels and of keys, and of experts whose rows are
    no whole panels, of all of which products read parts, stay in rows.

    Example: test/passes/seq/pack-weights.mlir
  }];
}

def BundleWeightsPass : Pass<"seq-bundle-weights", "::mlir::ModuleOp"> {
  let summary = "Order the blocks of rows by their fields for a GPU's loads";
  let description = [{
    Where the target has `bundle`, a weight of blocks (`!storage.block`) gets `bundles`
    of as many blocks as its rows are multiples of, at most `bundle` elements together.
    The artifact then has of each bundle first the codes and then the scales
    (dialects/storage/Bundles.h): the same bits, in an order in which neighbouring
    threads load neighbouring words. Whatever reads the weight reads bundles as it
    reads blocks. Each weight of blocks is a remark, with the reason where it stays as
    it is.

    Needs: that no other target reads the weights in another order. A module whose
    target has no `bundle` stays as it is.
    Keeps: every op; only the attribute is set. Running it again changes nothing but
    for the remarks.
    Not done: rows that are no whole bundles, and blocks of more elements than `bundle`
    or whose fields bundles do not order (`storage::canBundle`).

    Example: test/passes/seq/bundle-weights.mlir
  }];
}

def StoreDigitsPass : Pass<"seq-store-digits", "::mlir::ModuleOp"> {
  let summary = "Hand on as digits what products with panels read";
  let description = [{
    A product of the host with a matrix in panels rounds its rows to digits
    (`!storage.digits`). A kernel that writes such rows in whole blocks of 32 makes
    them digits for all products that read them: its result is listed in `narrow`.
    Where others read the result as well, the kernel hands it on twice, once as it is.

    Whole blocks are written by norms of whole rows, elementwise kernels, windows whose
    heads are whole blocks, products with matrices in panels, and experts' hidden units.
    Rows of other kernels become digits where a product reads them, in each of its
    items. Each result that products with panels read is a remark.

    Needs: kernels (`seq-form-kernels`) and panels (`seq-pack-weights`). A module whose
    target has no `digits` stays as it is.
    Keeps: what every value is. Running it again changes nothing but for the remarks.
    Not done: a kernel that reads a result both as rows of a product and otherwise reads
    it as it is.

    Example: test/passes/seq/store-digits.mlir
  }];
}

def SplitProductsPass : Pass<"seq-split-products", "::mlir::ModuleOp"> {
  let summary = "Give outputs of a product that do not tolerate rounding a product of their own";
  let description = [{
    A result lies in memory as f32 or in 16 bits as a whole (`seq-narrow-results`).
    Where a model computes what decays are made of beside what mixers multiply, all of
    it would stay f32: a projection may have a time step for each head behind gates,
    values, keys and queries that are a hundred times as many. So a product whose
    last outputs do not tolerate rounding (`seq::RoundingTolerance`), at most an eighth of
    all, is split in front of them. Both parts read slices of the weight.

    Split are products of calls with 1,024 rows or more: a launch more takes as long as
    reading and writing 4 MB. Each is a remark.

    Needs: entries (`seq-specialize-entries`), before kernels (`seq-form-kernels`). A
    module without `tile.target`, or whose target does not round products to bf16 or has
    to keep bits, stays as it is.
    Keeps: the bits of every output.
    Not done: products with biases, of blocks of channels or with weights in blocks of
    elements, and outputs that do not tolerate rounding in front
    of others.

    Example: test/passes/seq/split-products.mlir
  }];
}

def NarrowResultsPass : Pass<"seq-narrow-results", "::mlir::ModuleOp"> {
  let summary = "Keep in memory in 16 bits what tolerates it";
  let description = [{
    A product that rounds its rows to bf16 (or f16) when it reads them gets the same
    bits from rows that were rounded when they were written: both are the nearest, ties
    to even. So a result of a `seq.kernel` is listed in its `narrow` where every use
    of it, through slices and reshapes, is the first operand of a product with a
    matrix (`seq.linear`, `seq.lm_head`, `seq.key_scores`) that rounds its rows: of
    at least 16 terms, and not of a single row, which no tensor core multiplies
    unless it has to have the bits that it has among others (`bit-stable`). Half of
    the bytes are then written and read, and no product converts what it reads.

    On a GPU whose products round to bf16, results are listed besides that others read, where
    all that reads them tolerates rounding (`seq::RoundingTolerance`): mixers what they
    multiply, norms, convolutions, gates. Residuals, states, and what decays and
    exponents are made of stay f32, as does what something is chosen by. So public
    kernels have it. Where a token is to have the same bits however it is computed
    (`bit-stable`), or is the only row, nothing is rounded that products do not round.

    Each such result is a remark, which says why. A read of a slice which in 16 bits
    begins at no multiple of 64 bytes would be element by element: such a result stays
    f32, with a remark.

    Needs: kernels (`seq-form-kernels`). A module without `tile.target`, or whose
    target does not round products, or to tf32, which takes as much memory as f32, stays
    as it is.
    Keeps: every op; only the attribute is set. Running it again changes nothing
    but for the remarks.
    Not done: what experts read stays f32, whose products round it too. A result of
    which one slice does not tolerate rounding stays f32 as a whole (`seq-split-products`).

    Example: test/passes/seq/narrow-results.mlir
  }];
}

def UnpackWeightsPass : Pass<"seq-unpack-weights", "::mlir::ModuleOp"> {
  let summary = "Unpack matrices of blocks once for a GPU's products of many rows";
  let description = [{
    A product of a GPU that rounds its operands to bf16 (or f16) has each item unpack the
    part of a matrix of blocks (`!storage.block`) that it multiplies, once for every 64
    rows of the call. Where a launch more, which writes the matrix in 16 bits, takes less
    time (`paysToUnpack` in `passes/kernel_facts/LaunchCost.h`), this pass puts a
    `seq.kernel` in front that hands the matrix on so: its body yields its argument, and
    `narrow` lists it. The product then is one with a matrix of bf16, by the same units.
    Products of an entry that read one weight share what is unpacked.

    Each matrix of blocks that a kernel reads is a remark, which says how it is unpacked.

    Needs: kernels (`seq-form-kernels`). A module without `tile.target`, or whose target
    is no GPU that rounds products to 16 bits, stays as it is.
    Keeps: what products multiply, since they round what they unpack to the same numbers;
    the bits are those of the same matrix stored in 16 bits. Where bits have to be stable
    (`bit-stable`) they are those without the pass; else another unit may add otherwise.
    Running it again changes nothing but for the remarks.
    Not done: products of a row or two, of fewer than 16 terms, and of a matrix for each
    block of channels. Heads: the largest matrix would take memory in each call, and of a
    prompt few rows are outputs. Experts, of which tokens choose few.

    Example: test/passes/seq/unpack-weights.mlir
  }];
}

def ExpandFormPass : Pass<"seq-expand-form"> {
  let summary = "Derive a form of each mixer as primitive ops";
  let description = [{
    Replaces every mixer by primitive ops. A mixer of class `retrieval` is computed
    by all pairs of keys in the form `quadratic` and by candidates in the others,
    see `RetrievalForms.h`. One of class `linear` is computed in one of three
    forms. All that is asked of a mixer is its token map, its
    structure record and its read-out:

    * `step`: a `seq.scan` over single tokens, the recurrence itself;
    * `quadratic`: all tokens as one block, with the state before them;
    * `chunkwise`: a `seq.scan` over blocks of `chunk` tokens, then one block
      of the `T mod chunk` tokens left.

    Within a block, the decay between two tokens is the exponential of a
    `seq.segment_sum`: a sum of log-decays, never a difference of cumulative
    sums. Each mixer gets a remark `seq-expand-form` with its form and what
    allows it.

    Needs: a static `T`; class `retrieval`, or `linear` with real decays. With a rank-one
    correction `quadratic` and `chunkwise` need decays per head or key channel,
    and there is no `scan`. Anything else is an error that names what is not met;
    of a class `opaque` it names the op of the step that is not linear. With
    `partial` it is a remark, and the mixer stays as it is. A token map that lacks a
    quantity is an error in any case.
    Keeps: every op that is no mixer, and written steps without a state, in which
    tokens do not meet.
    Not done: choosing a form; it is an option, or the `form` on the mixer.

    Example: test/passes/seq/expand-form.mlir
  }];
  let options = [
    Option<"form", "form", "::effc::FormChoice",
           /*default=*/"::effc::FormChoice::Attribute",
           "The form of every mixer",
           [{::llvm::cl::values(
               clEnumValN(::effc::FormChoice::Attribute, "attribute",
                          "the one named by the mixer's 'form'"),
               clEnumValN(::effc::FormChoice::Step, "step",
                          "token by token"),
               clEnumValN(::effc::FormChoice::Quadratic, "quadratic",
                          "all tokens as one block"),
               clEnumValN(::effc::FormChoice::Chunkwise, "chunkwise",
                          "blocks of 'chunk' tokens"),
               clEnumValN(::effc::FormChoice::Scan, "scan",
                          "stretches combined in pairs"))}]>,
    Option<"chunk", "chunk", "int64_t", /*default=*/"::effc::kUsualChunkTokens",
           "Tokens of a block of the chunkwise form">,
    Option<"partial", "partial", "bool", /*default=*/"false",
           "Whether a mixer without the form stays as it is, with a remark">];
  let dependentDialects = ["::effc::seq::SeqDialect"];
}

#endif
