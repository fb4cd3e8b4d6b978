//===- TileBase.td - the tile dialect and its attributes and types --------===//
#ifndef EFFC_DIALECTS_TILE_TILEBASE_TD
#define EFFC_DIALECTS_TILE_TILEBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "dialects/tile/Layouts.td"
include "dialects/tile/units/ProductUnit.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::effc::tile";
  let summary = "How one kernel computes: tiles and structured loops";
  let dependentDialects = ["::effc::storage::StorageDialect"]; // of views
  let description = [{
    A kernel in `tile` is the body of one work item. Values are tiles (small
    dense blocks with a role), views of memory, and scalars. The dialect has two
    levels. At kernel level no value has a layout, there is no thread and no
    barrier; running the ops in order is the meaning, and the host executes just
    that. At scheduled level (nvptx and sim) every tile type carries a layout
    from a closed set and an exchange through shared memory is explicit.
  }];
  let extraClassDeclaration = [{
    /// Adds the types; defined beside their printers, in TileTypes.cpp.
    void registerTypes();
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class Tile_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::effc::tile";
}

def Tile_Count : Tile_Enum<"Count", "a size that a packed call brings", [
    I32EnumAttrCase<"Rows", 0, "rows">, I32EnumAttrCase<"Segments", 1, "segments">,
    I32EnumAttrCase<"Outputs", 2, "outputs">, I32EnumAttrCase<"One", 3, "one">]>;

def Tile_Role : Tile_Enum<"Role", "what a tile is used as", [
    I32EnumAttrCase<"Operand", 0, "operand">,
    I32EnumAttrCase<"Accumulator", 1, "accumulator">,
    I32EnumAttrCase<"Row", 2, "row">, I32EnumAttrCase<"Column", 3, "column">,
    I32EnumAttrCase<"Staged", 4, "staged">]>;

def Tile_ReduceKind : Tile_Enum<"ReduceKind", "how elements are combined", [
    I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Max", 1, "max">]>;

def Tile_Decided : Tile_Enum<"Decided", "how much of a schedule is decided", [
    I32EnumAttrCase<"Threads", 0, "threads">, I32EnumAttrCase<"Layouts", 1, "layouts">,
    I32EnumAttrCase<"Places", 2, "places">, I32EnumAttrCase<"Barriers", 3, "barriers">]>;

def Tile_Device : Tile_Enum<"Device", "what runs a kernel", [
    I32EnumAttrCase<"Host", 0, "host">, I32EnumAttrCase<"Nvptx", 1, "nvptx">]>;

def Tile_ByteProducts : Tile_Enum<"ByteProducts", "what multiplies bytes on a host", [
    I32EnumAttrCase<"Pairs", 0, "pairs">, I32EnumAttrCase<"Quads", 1, "quads">,
    I32EnumAttrCase<"SignedQuads", 2, "signed_quads">,
    I32EnumAttrCase<"SignedMatrices", 3, "signed_matrices">]>;

class Tile_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Tile_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Tile_ItemsAttr : Tile_Attr<"Items", "items"> {
  let summary = "How many work items a launch of a kernel has";
  let description = [{
    `ceil(count / tile) * times` items, where `count` is brought by the call.
    Item `i` belongs to tile `i / times` and is number `i % times` of it.

    Constraints:

    * (ITEMS1) `tile` and `times` are at least 1.

    Example: `#tile.items<rows, tile = 4, times = 24>`
  }];
  let parameters = (ins EnumParameter<Tile_Count>:$count, "int64_t":$tile, "int64_t":$times);
  let assemblyFormat = "`<` $count `,` `tile` `=` $tile `,` `times` `=` $times `>`";
  let genVerifyDecl = 1;
}

def Tile_BlockLimitsAttr : Tile_Attr<"BlockLimits", "block"> {
  let summary = "What a block of a GPU may have";
  let description = [{
    At most `threads` threads run a work item together, with at most `shared_bytes`
    of shared memory.

    Constraints:

    * (BLOCK1) `threads` is a multiple of 32 in 32..1024.
    * (BLOCK2) `shared_bytes` is at least 0.

    Example: `#tile.block<threads = 256, shared_bytes = 166912>`
  }];
  let parameters = (ins "int64_t":$threads, "int64_t":$shared_bytes);
  let assemblyFormat = "`<` `threads` `=` $threads `,` `shared_bytes` `=` $shared_bytes `>`";
  let genVerifyDecl = 1;
}

def Tile_CoreAttr : Tile_Attr<"Core", "core"> {
  let summary = "What a core of a GPU has for its blocks, and how long it waits";
  let description = [{
    `registers` of 32 bits are shared by the `blocks` that a core has at once at most
    (32 where nothing says so). Each of the `schedulers` issues for one warp at a time.
    The others are cycles: that a block waits for `memory`, at a `barrier`, and for a
    `product` of tensor cores whose sums the next one adds to, and that a further
    `launch` takes besides its blocks.

    Constraints:

    * (CORE1) `registers` and `blocks` are at least 1.
    * (CORE2) the cycles are at least 0.
    * (CORE3) `schedulers` is a power of two.

    Example: `#tile.core<registers = 65536, memory = 500, barrier = 50, product = 33,
    launch = 2500, schedulers = 4>`
  }];
  let parameters = (ins "int64_t":$registers, "int64_t":$memory, "int64_t":$barrier,
    "int64_t":$product, "int64_t":$launch, "int64_t":$schedulers,
    DefaultValuedParameter<"int64_t", "32">:$blocks);
  let assemblyFormat = [{ `<` `registers` `=` $registers `,` `memory` `=` $memory `,`
    `barrier` `=` $barrier `,` `product` `=` $product `,` `launch` `=` $launch `,`
    `schedulers` `=` $schedulers (`,` `blocks` `=` $blocks^)? `>` }];
  let genVerifyDecl = 1;
}

def Tile_IsaAttr : Tile_Attr<"Isa", "isa"> {
  let summary = "A level of the host's instruction set";
  let description = [{
    What differs between the levels that hosts may have, as in `#tile.target`: what
    the artifact calls the code, what LLVM makes it for, and the vector registers.
    `triple` is the architecture, as LLVM calls it; without it, x86-64.

    `byte_products` are the instructions that multiply bytes. `pairs` are unsigned bytes
    by signed ones, added two by two in 16 bits (vpmaddubsw); `quads` the same, added
    four by four to 32 bits (vpdpbusd); `signed_quads` signed bytes alone, four by four
    (sdot); `signed_matrices` also two rows of eight by two others (smmla).
    `bf16_products` says that pairs of bf16 are multiplied and added to f32 (vdpbf16ps).

    Constraints:

    * (ISA1) `vector` is a power of two, and `registers` at least 8.

    Example: `#tile.isa<code = "x86-64-v4", cpu = "x86-64-v4", vector = 16,
    registers = 32>`
  }];
  let parameters = (ins "::mlir::StringAttr":$code, "::mlir::StringAttr":$cpu,
    OptionalParameter<"::mlir::StringAttr">:$features,
    OptionalParameter<"::mlir::StringAttr">:$triple,
    DefaultValuedParameter<"::effc::tile::ByteProducts",
                           "::effc::tile::ByteProducts::Pairs">:$byte_products,
    DefaultValuedParameter<"bool", "false">:$bf16_products, "int64_t":$vector,
    "int64_t":$registers);
  let assemblyFormat = [{ `<` `code` `=` $code `,` `cpu` `=` $cpu `,`
    (`features` `=` $features^ `,`)? (`triple` `=` $triple^ `,`)?
    (`byte_products` `=` $byte_products^ `,`)? (`bf16_products` `=` $bf16_products^ `,`)?
    `vector` `=` $vector `,` `registers` `=` $registers `>` }];
  let genVerifyDecl = 1;
}

def Tile_TargetAttr : Tile_Attr<"Target", "target"> {
  let summary = "What code is made for";
  let description = [{
    Set on the module by the compiler from its table of chips (compiler/Target.h).
    Passes of all phases read the target here and nowhere else.

    `bit_stable` asks for the same bits of a token whatever it is computed with and
    wherever a prompt is cut. `simulated` says that the host plays the GPU.
    `units` are the product units of a GPU, the preferred one first; without them there
    is `#tile.mma_sync` alone. `overlaps` says that a launch may begin while the one
    before it ends. Where `rounded_to` is there, operands of
    products are rounded to that type if the mathematics can bear it.

    `vector` is the number of f32 lanes of a vector register, `registers` how many
    there are, `step_rate` and `dot_rate` the FLOPs per cycle that a fused time loop
    and a tile dot sustain, `exact_dot_rate` the same of a dot whose operands stay as
    they are beside rounded ones (without it, `dot_rate`). Of the host `state_bytes` are
    the bytes of state that stay close to a core. Of a GPU `cores` is how many there are,
    `bandwidth` the bytes that memory moves in a cycle of them, and `rereads` the terms of
    products in such a cycle for which items read a row and its norm again from the second
    cache. `block` limits the blocks of a GPU, `core` says what one of its cores has for
    them. `library` says that products may be left to a library of the device's.

    `digits` are those of the host's products with weights in panels, to which their
    rows are rounded (`!storage.digits`); 0: weights have no panels. `bundle` is the most
    elements of a bundle of blocks (dialects/storage/Bundles.h), what a GPU's block takes
    of a row at once; 0: weights have no bundles.

    `code` is what the artifact calls the code, `cpu` what LLVM makes it for, with
    `features`: the chip of a GPU, also where the host plays it. `ptx` is what the
    artifact calls the text of a GPU's code, which drivers compile for newer chips.
    `own_chips` says that the code, and its text, run on that chip alone, since they
    have instructions of its own. `triple`, `byte_products` and `bf16_products` are those
    of the host's level (`#tile.isa`). `optimised = false` leaves the
    host's code as the passes write it, which is slower and has the same bits. Kernels
    of the host become code of the levels in `further` as well. All levels run the same
    plan, so that nothing before the phase binary reads `vector`, `registers`,
    `byte_products`, `bf16_products` or `further`.

    Constraints:

    * (TARGET1) `rounded_to`, where present, is bf16, f16 or tf32.
    * (TARGET2) `block`, `core`, `simulated`, `units`, `overlaps` and `library` are a
      GPU's.
    * (TARGET3) `further` is the host's, and no two levels have the same `code`.
    * (TARGET4) `units` are attributes with the interface `ProductUnit`.
    * (TARGET5) `digits` is the host's, and at most 3.
    * (TARGET6) `triple` is the host's.
    * (TARGET7) `optimised = false` is the host's.
    * (TARGET8) `exact_dot_rate`, where present, is that of a target with `rounded_to`.
    * (TARGET9) a GPU has `block`, `core`, `cores`, `bandwidth` and `rereads`, and the
      host has no `bandwidth`.
    * (TARGET10) `byte_products` and `bf16_products` are the host's, `ptx` and
      `own_chips` a GPU's.
    * (TARGET11) The host has `state_bytes`, and a GPU has none: what its blocks hold is
      a matter of `block`.
    * (TARGET12) `bundle` is a GPU's, and at least 0.

    Example: `#tile.target<host, bit_stable = true, code = "x86-64-v3", cpu =
    "x86-64-v3", vector = 8, registers = 16, step_rate = 24, dot_rate = 28,
    state_bytes = 49152>`
  }];
  let parameters = (ins EnumParameter<Tile_Device>:$device,
    DefaultValuedParameter<"bool", "false">:$bit_stable,
    DefaultValuedParameter<"bool", "false">:$simulated,
    OptionalArrayRefParameter<"::mlir::Attribute">:$units,
    DefaultValuedParameter<"bool", "false">:$overlaps,
    OptionalParameter<"::mlir::Type">:$rounded_to,
    OptionalParameter<"::effc::tile::BlockLimitsAttr">:$block,
    OptionalParameter<"::effc::tile::CoreAttr">:$core,
    DefaultValuedParameter<"bool", "false">:$library,
    DefaultValuedParameter<"int64_t", "0">:$digits,
    DefaultValuedParameter<"int64_t", "0">:$bundle,
    OptionalParameter<"::mlir::StringAttr">:$code,
    OptionalParameter<"::mlir::StringAttr">:$cpu,
    OptionalParameter<"::mlir::StringAttr">:$features,
    OptionalParameter<"::mlir::StringAttr">:$ptx,
    DefaultValuedParameter<"bool", "false">:$own_chips,
    OptionalParameter<"::mlir::StringAttr">:$triple,
    DefaultValuedParameter<"::effc::tile::ByteProducts",
                           "::effc::tile::ByteProducts::Pairs">:$byte_products,
    DefaultValuedParameter<"bool", "false">:$bf16_products,
    DefaultValuedParameter<"bool", "true">:$optimised,
    "int64_t":$vector, "int64_t":$registers, "int64_t":$step_rate,
    "int64_t":$dot_rate, DefaultValuedParameter<"int64_t", "0">:$exact_dot_rate,
    DefaultValuedParameter<"int64_t", "0">:$state_bytes,
    DefaultValuedParameter<"int64_t", "0">:$cores,
    DefaultValuedParameter<"int64_t", "0">:$bandwidth,
    DefaultValuedParameter<"int64_t", "0">:$rereads,
    OptionalArrayRefParameter<"::effc::tile::IsaAttr">:$further);
  let assemblyFormat = [{ `<` $device `,` (`bit_stable` `=` $bit_stable^ `,`)?
    (`simulated` `=` $simulated^ `,`)? (`units` `=` `[` $units^ `]` `,`)?
    (`overlaps` `=` $overlaps^ `,`)? (`rounded_to` `=` $rounded_to^ `,`)?
    (`block` `=` $block^ `,`)? (`core` `=` $core^ `,`)? (`library` `=` $library^ `,`)?
    (`digits` `=` $digits^ `,`)? (`bundle` `=` $bundle^ `,`)? (`code` `=` $code^ `,`)? (`cpu` `=` $cpu^ `,`)?
    (`features` `=` $features^ `,`)? (`ptx` `=` $ptx^ `,`)?
    (`own_chips` `=` $own_chips^ `,`)? (`triple` `=` $triple^ `,`)?
    (`byte_products` `=` $byte_products^ `,`)? (`bf16_products` `=` $bf16_products^ `,`)?
    (`further` `=` `[` $further^ `]` `,`)? (`optimised` `=` $optimised^ `,`)?
    `vector` `=` $vector `,` `registers` `=` $registers `,` `step_rate` `=` $step_rate `,` `dot_rate` `=` $dot_rate
    `,` (`exact_dot_rate` `=` $exact_dot_rate^ `,`)? (`state_bytes` `=` $state_bytes^) :
    (`cores` `=` $cores `,` `bandwidth` `=` $bandwidth `,` `rereads` `=` $rereads)? `>` }];
  let extraClassDeclaration = [{
    /// The host with one level alone: `further[index - 1]`, or its own where `index`
    /// is 0.
    TargetAttr ofLevel(size_t index) const;
  }];
  let genVerifyDecl = 1;
}

def Tile_ScheduleAttr : Tile_Attr<"Schedule", "schedule"> {
  let summary = "How a kernel occupies a GPU block";
  let description = [{
    `threads` run each work item, with `shared_bytes` of shared memory.

    A schedule is decided in four steps: how many `threads` there are, the `layouts` of
    tiles, their `places` in shared memory, and `barriers`. `decided` names the last step
    that is done, whose passes are in passes/tile; without it all are, and the kernel can
    be lowered.

    Constraints:

    * (SCHEDULE1) `threads` is a multiple of 32 in 32..1024.
    * (SCHEDULE2) `shared_bytes` is at least 0.
    * (SCHEDULE3) `shared_bytes` is there exactly where places are decided.

    Example: `#tile.schedule<threads = 128, shared_bytes = 1024>`,
    `#tile.schedule<decided = layouts, threads = 128>`
  }];
  let parameters = (ins "int64_t":$threads,
    OptionalParameter<"std::optional<int64_t>">:$shared_bytes,
    DefaultValuedParameter<"::effc::tile::Decided",
                           "::effc::tile::Decided::Barriers">:$decided);
  let assemblyFormat = [{ `<` (`decided` `=` $decided^ `,` ` `)? `threads` `=` $threads
    (`,` `shared_bytes` `=` $shared_bytes^)? `>` }];
  let genVerifyDecl = 1;
}

def Tile_BlockedAttr : Tile_Attr<"Blocked", "lin", [Tile_TileLayout,
    DeclareAttrInterfaceMethods<Tile_RegisterLayout>]> {
  let summary = "A layout of registers: runs of columns, rows that wrap around";
  let description = [{
    A thread holds `vector` consecutive columns of a row; `lanes` threads lie side
    by side along a row and the block's remaining threads along the rows; both
    wrap around. Element (r, c) of a tile lies in thread
    `(r mod (threads / lanes)) * lanes + (c / vector) mod lanes`. A `row` tile is
    held by every group of `lanes` threads alike, a `column` tile's element by the
    threads that hold its row. Places past the tile's shape hold nothing.

    Constraints:

    * (TILE_LIN1) `threads`, `lanes` and `vector` are powers of two.
    * (TILE_LIN2) `lanes` divides `threads`.

    Example: `#tile.lin<threads = 128, lanes = 16, vector = 4>`
  }];
  let parameters = (ins "int64_t":$threads, "int64_t":$lanes, "int64_t":$vector);
  let assemblyFormat = [{ `<` `threads` `=` $threads `,` `lanes` `=` $lanes `,`
    `vector` `=` $vector `>` }];
  let genVerifyDecl = 1;
}

def Tile_FragmentAttr : Tile_Attr<"Fragment", "mma", [Tile_TileLayout,
    DeclareAttrInterfaceMethods<Tile_RegisterLayout>]> {
  let summary = "A layout of registers: the accumulators of warp-wide products";
  let description = [{
    The tile is cut into fragments of 16 x 8, which `row_warps` warps share along the
    rows and the others along the columns; both wrap around. Of a fragment lane `l`
    holds rows `l / 4` and `l / 4 + 8`, columns `2 (l mod 4)` and the next (PTX
    ISA, mma.sync m16n8). `row` and `column` tiles are held as by `#tile.lin`.

    Constraints:

    * (MMA1) `threads` is a power of two, at least 32, and `row_warps` divides
      `threads / 32`.

    Example: `#tile.mma<threads = 128, row_warps = 2>`
  }];
  let parameters = (ins "int64_t":$threads, "int64_t":$row_warps);
  let assemblyFormat = "`<` `threads` `=` $threads `,` `row_warps` `=` $row_warps `>`";
  let genVerifyDecl = 1;
}

def Tile_SharedAttr : Tile_Attr<"Shared", "shared", [Tile_TileLayout]> {
  let summary = "A layout in shared memory";
  let description = [{
    From byte `offset` on, rows `stride` elements apart; every thread of the
    block's `threads` may read it. There is no `offset` before places are decided. A block has its rows and columns rounded up to
    multiples of 16, and what is past its shape is zero, so that products need no
    limits. A `row` or `column` is dense. There may be several slots for the tile,
    one after another. `swizzled` rows are 128 bytes, of which the 16 bytes at `16 i`
    in row `r` lie at `16 (i xor (r mod 8))`: what products of warp groups read
    as columns, or as rows that are transposed (PTX ISA, 128B swizzling mode). A
    swizzled block of more columns lies in panels of 64, one after another.

    Constraints:

    * (SHARED1) An `offset` is a multiple of 16, at least 0, and `stride` and `slots`
      are at least 1.
    * (SHARED2) Where `swizzled`, an `offset` is a multiple of 1024, and `stride` is 64.

    Example: `#tile.shared<threads = 128, offset = 0, stride = 68>`
  }];
  let parameters = (ins "int64_t":$threads,
    OptionalParameter<"std::optional<int64_t>">:$offset, "int64_t":$stride,
    DefaultValuedParameter<"int64_t", "1">:$slots,
    DefaultValuedParameter<"bool", "false">:$swizzled);
  let assemblyFormat = [{ `<` `threads` `=` $threads `,`
    (`swizzled` `=` $swizzled^ `,`)? (`offset` `=` $offset^ `,`)?
    `stride` `=` $stride (`,` `slots` `=` $slots^)? `>` }];
  let builders = [AttrBuilder<(ins "int64_t":$threads, "int64_t":$offset,
    "int64_t":$stride), [{
      return $_get($_ctxt, threads, offset, stride, 1, false);
    }]>];
  let extraClassDeclaration = [{
    /// The same layout elsewhere.
    SharedAttr withOffset(int64_t offset) const {
      return get(getContext(), getThreads(), offset, getStride(), getSlots(),
                 getSwizzled());
    }
    /// The same layout with another number of slots.
    SharedAttr withSlots(int64_t slots) const {
      return get(getContext(), getThreads(), getOffset(), getStride(), slots,
                 getSwizzled());
    }
    /// What `offset` is a multiple of, in bytes.
    int64_t getAlignment() const;
    /// Whether boxes may fill it (TMA, which swizzles what it copies).
    bool takesBoxes() const { return getSwizzled(); }
  }];
  let genVerifyDecl = 1;
}

def Tile_BoxMapAttr : Tile_Attr<"BoxMap", "box_map"> {
  let summary = "What a unit of a GPU has to know to copy boxes of an operand";
  let description = [{
    Operand `operand` of a kernel has `rows` of `columns` elements, which begin `pitch`
    elements apart; a box has `box_rows` of `box_columns`. It lies in shared memory as
    `#tile.shared` with `swizzled` rows, with zeros past the operand's shape. The runtime
    makes a tensor map of it when a model is loaded (CUDA driver API,
    cuTensorMapEncodeTiled).

    Constraints:

    * (BOXMAP1) `operand` is at least 0, the other numbers at least 1, and a box has at
      most 256 rows of 128 bytes of floating-point numbers.

    Example: `#tile.box_map<operand = 1, rows = 768, columns = 192, pitch = 192,
    box_rows = 64, box_columns = 64, bf16>`
  }];
  let parameters = (ins "int64_t":$operand, "int64_t":$rows, "int64_t":$columns,
    "int64_t":$pitch, "int64_t":$box_rows, "int64_t":$box_columns,
    "::mlir::Type":$element_type);
  let assemblyFormat = [{ `<` `operand` `=` $operand `,` `rows` `=` $rows `,`
    `columns` `=` $columns `,` `pitch` `=` $pitch `,` `box_rows` `=` $box_rows `,`
    `box_columns` `=` $box_columns `,` $element_type `>` }];
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class Tile_Type<string name, string typeMnemonic> : TypeDef<Tile_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Tile_TileType : Tile_Type<"Tile", "tile"> {
  let summary = "A dense block that one work item computes on";
  let description = [{
    Shape (one or two static dimensions), element type and role: `operand` and
    `accumulator` blocks are two-dimensional; a `row` runs along the columns of
    a block and a `column` along its rows, which is also how they broadcast in
    `tile.map`; `staged` is a block kept in fast shared memory. A layout is
    absent at kernel level and present at scheduled level, where a load past a
    limit, or past the shape, gives zeros.

    Constraints:

    * (TILE1) A `row` or `column` has one dimension, any other tile two.
    * (TILE2) Dimensions are at least 1.
    * (TILE3) Elements are f32, bf16, f16, or i32: the numbers that `tile.top_k`
      gives, which can only be stored and taken by.
    * (TILE4) A layout is an attribute with the interface `TileLayout`: `#tile.lin`,
      `#tile.mma`, `#tile.shared`.

    Example: `!tile.tile<4x64xf32, accumulator>`, `!tile.tile<64xf32, row>`
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
    "::effc::tile::Role":$role, OptionalParameter<"::mlir::Attribute">:$layout);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isBlock() const { return getShape().size() == 2; }
    /// Rows of a block; 1 for a `row`, the length for a `column`.
    int64_t rows() const;
    /// Columns of a block; the length for a `row`, 1 for a `column`.
    int64_t columns() const;
    /// Where it lies in shared memory; null where it has no layout, or lies in
    /// registers.
    SharedAttr getSharedLayout() const {
      return ::llvm::dyn_cast_if_present<SharedAttr>(getLayout());
    }
    /// The same tile with another layout.
    TileType withLayout(::mlir::Attribute layout) const {
      return get(getContext(), getShape(), getElementType(), getRole(), layout);
    }
  }];
}

def Tile_ViewType : Tile_Type<"View", "view"> {
  let summary = "Memory that a kernel reads or writes, addressed by element";
  let description = [{
    A base address with a shape and static strides in elements. Only the first
    dimension may be dynamic. What the memory is (arena, weight, state slots) is
    the launch's affair.

    Constraints:

    * (VIEW1) There is one stride for each dimension, of which there is one or more.
    * (VIEW2) Dimensions after the first are static, and static ones at least 1.
    * (VIEW3) Elements are f32, bf16, f16, i32, i64 or `!storage.block`.
    * (VIEW4) Strides of blocks are multiples of their elements, but for the last.

    Example: `!tile.view<?x24x64xf32, [3352, 64, 1]>`
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
    ArrayRefParameter<"int64_t">:$strides);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tile_SegmentTableType : Tile_Type<"SegmentTable", "segments"> {
  let summary = "The segment table of a packed call";
  let description = [{
    One record per sequence that has rows in the call; read by `tile.segment`.

    Example: `!tile.segments`
  }];
}

#endif
