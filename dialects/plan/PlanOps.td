//===- PlanOps.td - the plan dialect --------------------------------------===//
#ifndef EFFC_DIALECTS_PLAN_PLANOPS_TD
#define EFFC_DIALECTS_PLAN_PLANOPS_TD

include "dialects/plan/PlanEnums.td"
include "dialects/tile/TileBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::effc::plan";
  let summary = "When kernels run: the host program of a compiled model";
  let description = [{
    One `plan.entry` is one compiled call: a flat list of launches over memory
    whose place is known. The artifact stores just this, and the runtime
    interprets it; nothing of a plan is computed at run time but addresses.
  }];
  let dependentDialects = ["::effc::tile::TileDialect"]; // the items of a launch
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

class Plan_Op<string mnemonic, list<Trait> traits = []>
    : Op<Plan_Dialect, mnemonic, traits>;

def Plan_MemoryType : TypeDef<Plan_Dialect, "Memory"> {
  let mnemonic = "memory";
  let summary = "A place in memory, known before any call";
  let description = [{
    An address that the runtime forms once per entry or call: a part of the
    arena, a weight, the states of all slots, a table of the call.

    Example: `!plan.memory`
  }];
}

def Plan_ProductAttr : AttrDef<Plan_Dialect, "Product"> {
  let mnemonic = "product";
  let summary = "The product of matrices that a launch computes, and nothing else";
  let description = [{
    y = x w^T, whose `outputs` are the rows of w and whose `inner` elements are the
    columns of x and w. Pitches are elements from one row to the next. Rows of x and
    y are what the launch's items count.

    Constraints:

    * (PRODUCT1) `outputs` and `inner` are positive, and no pitch is less than its
      matrix has columns.
    * (PRODUCT2) Types are f32, bf16 or f16.

    Example:
    `#plan.product<outputs = 10, inner = 6, x = bf16 every 32, w = bf16 every 32, y = f32 every 16>`
  }];
  let parameters = (ins "int64_t":$outputs, "int64_t":$inner, "::mlir::Type":$x,
    "int64_t":$x_pitch, "::mlir::Type":$w, "int64_t":$w_pitch, "::mlir::Type":$y,
    "int64_t":$y_pitch);
  let assemblyFormat = [{
    `<` `outputs` `=` $outputs `,` `inner` `=` $inner `,` `x` `=` $x `every` $x_pitch
    `,` `w` `=` $w `every` $w_pitch `,` `y` `=` $y `every` $y_pitch `>`
  }];
  let genVerifyDecl = 1;
}

def Plan_EntryOp : Plan_Op<"entry", [IsolatedFromAbove, Symbol, SingleBlock, NoTerminator]> {
  let summary = "One compiled call: its launches in order";
  let description = [{
    A prefill entry takes up to `rows` packed rows of any number of sequences; a
    decode entry up to `rows` sequences with one row each. Prompts are cut into
    calls on multiples of `chunk` tokens from a sequence's start (1: anywhere).
    `arena_bytes` is absent until `plan-assign-arena` has placed the buffers.

    Constraints:

    * (PLAN_ENTRY1) `rows` and `chunk` are at least 1; a prefill entry's `rows` are a
      multiple of `chunk`.

    Example:

    ```mlir
    plan.entry @decode_1 kind decode rows 1 chunk 1 arena 256 {
      %tokens = plan.table tokens
      %x = plan.arena bytes 256 offset 0
      %w = plan.weight @embeddings
      plan.launch @embed(%tokens, %w, %x) items #tile.items<rows, tile = 1, times = 1>
          note "embeddings"
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Plan_EntryKind:$kind, I64Attr:$rows,
    I64Attr:$chunk, OptionalAttr<I64Attr>:$arena_bytes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `kind` $kind `rows` $rows `chunk` $chunk (`arena` $arena_bytes^)?
    $body attr-dict
  }];
  let hasVerifier = 1;
}

def Plan_TableOp : Plan_Op<"table", [Pure]> {
  let summary = "An input table of the call";
  let description = [{
    `tokens`: i32 ids, `row_slots`: i32, `row_positions`: i64, each per row;
    `segments`: one record per sequence; `output_rows`: i32, the rows whose
    logits are wanted; `draws`: four words of 32 bits for each of these, by which
    its token is drawn (`seq.best`).

    Example: `%t = plan.table tokens`
  }];
  let arguments = (ins Plan_Table:$table);
  let results = (outs Plan_MemoryType:$memory);
  let assemblyFormat = "$table attr-dict";
}

def Plan_ArenaOp : Plan_Op<"arena", []> {
  let summary = "A buffer of the entry's arena";
  let description = [{
    `bytes` for the entry's full number of rows. `offset`, a multiple of 64, is
    absent until `plan-assign-arena` sets it.

    Constraints:

    * (ARENA1) `bytes` is positive and `offset` a multiple of 64.

    Example: `%x = plan.arena bytes 4096 offset 0`
  }];
  let arguments = (ins I64Attr:$bytes, OptionalAttr<I64Attr>:$offset);
  let results = (outs Plan_MemoryType:$memory);
  let assemblyFormat = "`bytes` $bytes (`offset` $offset^)? attr-dict";
  let hasVerifier = 1;
}

def Plan_WeightOp : Plan_Op<"weight", [Pure]> {
  let summary = "The memory of a weight";
  let description = [{
    Example: `%w = plan.weight @layers.0.in_proj`
  }];
  let arguments = (ins FlatSymbolRefAttr:$weight);
  let results = (outs Plan_MemoryType:$memory);
  let assemblyFormat = "$weight attr-dict";
}

def Plan_StateOp : Plan_Op<"state", [Pure]> {
  let summary = "The memory of a state in slot 0";
  let description = [{
    The same state of slot s lies `s` times the slot's size further on; the
    kernel adds that itself. `name` is an entry of the module's state layout.

    Example: `%s = plan.state "layers.0.ssd"`
  }];
  let arguments = (ins StrAttr:$name);
  let results = (outs Plan_MemoryType:$memory);
  let assemblyFormat = "$name attr-dict";
}

def Plan_LogitsOp : Plan_Op<"logits", [Pure]> {
  let summary = "The memory where the caller wants the logits";
  let description = [{
    f32, one dense row of the vocabulary for each wanted row.

    Example: `%l = plan.logits`
  }];
  let results = (outs Plan_MemoryType:$memory);
  let assemblyFormat = "attr-dict";
}

def Plan_ChoicesOp : Plan_Op<"choices", [Pure]> {
  let summary = "The memory where the caller wants the tokens that are drawn";
  let description = [{
    Two f32 for each wanted row, dense: the largest logit, or sum of one with noise,
    and its number (`seq.best`).

    Example: `%c = plan.choices`
  }];
  let results = (outs Plan_MemoryType:$memory);
  let assemblyFormat = "attr-dict";
}

def Plan_OffsetOp : Plan_Op<"offset", [Pure]> {
  let summary = "A place further on in the same memory";
  let description = [{
    How a kernel is handed the columns of a wider buffer: same rows, same
    stride, a later start.

    Constraints:

    * (OFFSET1) `bytes` is not negative.

    Example: `%z = plan.offset %x by 1024`
  }];
  let arguments = (ins Plan_MemoryType:$base, I64Attr:$bytes);
  let results = (outs Plan_MemoryType:$memory);
  let assemblyFormat = "$base `by` $bytes attr-dict";
  let hasVerifier = 1;
}

def Plan_LaunchOp : Plan_Op<"launch", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a kernel over its work items";
  let description = [{
    Operands stand in the kernel's order; which of them are written, the kernel
    says. `items` are the kernel's, kept here because the plan outlives the
    kernel's form in `tile`; `note` says where in the model the launch comes from.
    `flops` are those of each row that no way of computing it avoids
    (dialects/seq/Work.h); absent: none that count. With `only_for` the launch is
    left out of calls of which another result is wanted. A launch with a `product`
    may be done by a library that multiplies matrices instead of its kernel.

    Constraints:

    * (LAUNCH1) A kernel of that name takes as many operands and has these items.
    * (LAUNCH2) `flops` is positive.
    * (LAUNCH3) A `product` has three operands: x, w and y.

    Example:
    `plan.launch @dense_0(%x, %w, %y) items #tile.items<one, tile = 1, times = 5> note "layers.0.in_proj" flops 480`
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Plan_MemoryType>:$operands,
    Tile_ItemsAttr:$items, StrAttr:$note, OptionalAttr<I64Attr>:$flops,
    OptionalAttr<Plan_CallResult>:$only_for, OptionalAttr<Plan_ProductAttr>:$product);
  let assemblyFormat = [{
    $kernel `(` $operands `)` `items` $items `note` $note (`flops` $flops^)?
    (`only_for` $only_for^)? (`product` $product^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Plan_BinaryOp : Plan_Op<"binary", [Symbol]> {
  let summary = "The compiled code of all kernels for one target";
  let description = [{
    Of the host and the simulator `code` is an import-free position-independent
    image; kernel `kernels[i]` starts at byte `offsets[i]` of it and uses at most
    `stack_bytes[i]` bytes of stack in one call. Of a GPU it is a cubin or PTX,
    whose kernels are found by name. `threads[i]` and `shared_bytes[i]` are those
    of a block on a GPU or in the simulator, `registers[i]` and `spill_bytes[i]`
    what `ptxas` says of a cubin's kernels, `ptxas` the version of the one that made
    it ("13.0.88"). `box_maps[i]` is a list of
    `#tile.box_map`, of which a kernel is passed the tensor maps behind its counts.
    `overlapping` kernels may begin while the launch before them ends: they wait for
    it themselves (PTX ISA, griddepcontrol).

    Constraints:

    * (BINARY1) `kernels`, `offsets` and `stack_bytes`, and the others where they
      are there, have one element per kernel.
    * (BINARY2) Elements of `box_maps` are lists of `#tile.box_map`.

    Example:
    `plan.binary @host isa "x86-64-v3" kernels ["embed"] offsets [0] stack_bytes [64] code dense<[195]> : tensor<1xi8>`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$isa, StrArrayAttr:$kernels,
    DenseI64ArrayAttr:$offsets, DenseI64ArrayAttr:$stack_bytes,
    OptionalAttr<DenseI64ArrayAttr>:$threads, OptionalAttr<DenseI64ArrayAttr>:$shared_bytes,
    OptionalAttr<DenseI64ArrayAttr>:$registers, OptionalAttr<DenseI64ArrayAttr>:$spill_bytes,
    OptionalAttr<StrAttr>:$ptxas, OptionalAttr<ArrayAttr>:$box_maps, UnitAttr:$overlapping,
    ElementsAttr:$code);
  let assemblyFormat = [{
    $sym_name `isa` $isa `kernels` $kernels `offsets` $offsets `stack_bytes` $stack_bytes
    (`threads` $threads^)? (`shared_bytes` $shared_bytes^)?
    (`registers` $registers^)? (`spill_bytes` $spill_bytes^)? (`ptxas` $ptxas^)?
    (`box_maps` $box_maps^)? (`overlapping` $overlapping^)? `code` $code attr-dict
  }];
  let hasVerifier = 1;
}

#endif
