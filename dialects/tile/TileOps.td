//===- TileOps.td - the ops of the tile dialect ---------------------------===//
#ifndef EFFC_DIALECTS_TILE_TILEOPS_TD
#define EFFC_DIALECTS_TILE_TILEOPS_TD

include "dialects/tile/TileBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// Begins a copy from a view to a slot of a ring; an op behind it awaits the copy.
def Tile_StartsCopy : NativeOpTrait<"StartsCopy"> {
  let cppNamespace = "::effc::tile";
}

class Tile_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, mnemonic, traits>;

def Tile_AnyTile : AnyTypeOf<[Tile_TileType]>;
def Tile_Scalar : AnyTypeOf<[F32]>;
def Tile_Value : AnyTypeOf<[Tile_TileType, F32]>;

def Tile_KernelOp : Tile_Op<"kernel", [IsolatedFromAbove, Symbol, SingleBlock,
                                       NoTerminator]> {
  let summary = "A kernel: what one work item does";
  let description = [{
    The region is the work of item `%item`; its other arguments are the
    operands of a launch, in order. Items are independent of one another: the
    host runs them one by one on any thread, a GPU gives each to a block.

    `writes` lists the operands that the kernel writes; it may read them too.
    `streamed` lists operands whose memory no call writes (weights), which may be
    prefetched before the call's inputs are there. `aligned` lists operands that
    every launch passes at a multiple of 64 bytes.

    With a `schedule` the kernel is at scheduled level, or on its way there: the
    schedule says how much of it is decided.

    Constraints:

    * (TILE_KERNEL1) The first block argument is `%item`, of type `index`.
    * (TILE_KERNEL2) Every further argument is a `!tile.view` or `!tile.segments`.
    * (TILE_KERNEL3) Every index in `writes`, `streamed` and `aligned` names an operand.
    * (TILE_KERNEL4) Every tile has a layout over the schedule's threads if layouts are
      decided, and none otherwise.
    * (TILE_KERNEL5) Every tile in shared memory has an `offset` if places are decided, and
      none otherwise.

    Example:

    ```mlir
    tile.kernel @double(%item, %x: !tile.view<?x6xf32, [8, 1]>,
                        %y: !tile.view<?x6xf32, [8, 1]>)
        items(#tile.items<rows, tile = 1, times = 1>) writes(1) {
      %c0 = arith.constant 0 : index
      %a = tile.load %x[%item, %c0] sizes [1, 6]
          : !tile.view<?x6xf32, [8, 1]> -> !tile.tile<6xf32, row>
      %b = tile.map(%a) : (!tile.tile<6xf32, row>) -> !tile.tile<6xf32, row> {
      ^bb0(%e: f32):
        %s = arith.addf %e, %e : f32
        tile.yield %s : f32
      }
      tile.store %b, %y[%item, %c0] sizes [1, 6]
          : !tile.tile<6xf32, row>, !tile.view<?x6xf32, [8, 1]>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Tile_ItemsAttr:$items,
    DenseI64ArrayAttr:$writes, OptionalAttr<DenseI64ArrayAttr>:$streamed,
    OptionalAttr<DenseI64ArrayAttr>:$aligned, OptionalAttr<Tile_ScheduleAttr>:$schedule);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Value getItem() { return getBody().getArgument(0); }
    /// The launch operands: every block argument but the item.
    ::mlir::ArrayRef<::mlir::BlockArgument> getOperandArguments() {
      return getBody().getArguments().drop_front();
    }
  }];
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator]> {
  let summary = "Ends a region of the tile dialect with its values";
  let description = [{
    The terminator of the regions of `tile.map` and `tile.pipeline`.

    Example: `tile.yield %s : f32`
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

def Tile_CountOp : Tile_Op<"count", [Pure]> {
  let summary = "A size of the packed call: rows, segments or outputs";
  let description = [{
    Sizes are run-time values, so that one kernel serves every bucket of rows.

    Example: `%rows = tile.count rows`
  }];
  let arguments = (ins Tile_Count:$count);
  let results = (outs Index:$result);
  let assemblyFormat = "$count attr-dict";
}

def Tile_SegmentOp : Tile_Op<"segment", [Pure]> {
  let summary = "Reads one record of the segment table";
  let description = [{
    `slot` is where the sequence's states lie, `first_row` and `length` its rows
    in this call, `start` the position of its first row in the sequence, and
    `begins` whether the sequence begins here, so that its states count as
    neutral whatever the slot holds.

    Example:
    `%slot, %row, %length, %start, %begins = tile.segment %table[%s]`
  }];
  let arguments = (ins Tile_SegmentTableType:$table, Index:$index);
  let results = (outs Index:$slot, Index:$first_row, Index:$length, Index:$start, I1:$begins);
  let assemblyFormat = "$table `[` $index `]` attr-dict";
}

class Tile_MemoryOp<string mnemonic, list<Trait> traits> : Tile_Op<mnemonic, traits>;

def Tile_ReadOp : Tile_Op<"read", [MemoryEffects<[MemRead]>]> {
  let summary = "Reads one element of a view";
  let description = [{
    An f32, bf16 or f16 element becomes an f32, an integer an index.

    Constraints:

    * (READ1) There is one index for each dimension of the view.
    * (READ2) The result is `f32` for a float element and `index` for an integer.

    Example:
    `%dt = tile.read %x[%row, %h] : !tile.view<?x24xf32, [3352, 1]> -> f32`
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<Index>:$indices);
  let results = (outs AnyTypeOf<[F32, Index]>:$result);
  let assemblyFormat = "$view `[` $indices `]` attr-dict `:` type($view) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_LoadOp : Tile_Op<"load", [AttrSizedOperandSegments, MemoryEffects<[MemRead]>]> {
  let summary = "Reads a tile from memory";
  let description = [{
    Reads the box of `sizes` elements at `indices`; dimensions of size 1 are
    dropped where the tile has fewer, in order. Elements are widened to f32; what
    lies in shared memory may be as the view stores it, or rounded to bf16 or f16.

    `rows(%n)` and `columns(%n)` limit the tile's rows and columns that lie
    inside the view, for the last tile along a dimension. What lies past a limit
    is unspecified, though finite where the view's elements are: the consumer
    masks by select. A GPU gives zeros. A limit is at least 1.

    `fetch_next` is a hint: the box that follows in memory is wanted next, and may
    be fetched into a cache while this one is used. Reading it need not be valid.

    Constraints:

    * (LOAD1) There is one index and one size for each dimension of the view.
    * (LOAD2) `sizes` without 1s is the tile's shape without 1s.
    * (LOAD3) Consecutive columns of a block lie one element apart.

    Example:

    ```mlir
    %a = tile.load %x[%row, %h, %c0] rows(%n) sizes [16, 1, 64]
        : !tile.view<?x24x64xf32, [3352, 64, 1]> -> !tile.tile<16x64xf32, operand>
    ```
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<Index>:$indices,
    Optional<Index>:$rows, Optional<Index>:$columns, DenseI64ArrayAttr:$sizes,
    UnitAttr:$fetch_next);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = [{
    $view `[` $indices `]` (`rows` `(` $rows^ `)`)? (`columns` `(` $columns^ `)`)?
    `sizes` $sizes (`fetch_next` $fetch_next^)? attr-dict `:` type($view) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_SpliceOp : Tile_Op<"splice", [AttrSizedOperandSegments, MemoryEffects<[MemRead]>]> {
  let summary = "Reads a block whose first rows lie in one view, the rest in another";
  let description = [{
    `rows(%head, %end)`: rows before `%head` are those of the first view's box, in
    place; rows from `%head` to `%end` are the first ones of the second view's box;
    rows from `%end` on are 0. Elements are widened to f32. What of a box is not
    taken is not read, and need not lie inside its view.

    So keys of which the older lie in a ring and the newer in the call's rows are
    one block, and products over it add in the order they always do.

    Constraints:

    * (SPLICE1) Each box obeys (LOAD1) to (LOAD3) of `tile.load`.
    * (SPLICE2) The result is a block.

    Example:

    ```mlir
    %k = tile.splice %ring[%slot, %r, %h, %c0] sizes [1, 16, 1, 64],
        %x[%row, %h, %c0] sizes [16, 1, 64] rows(%head, %end)
        : !tile.view<?x48x2x64xf32, [9216, 128, 64, 1]>,
          !tile.view<?x2x64xf32, [128, 64, 1]> -> !tile.tile<16x64xf32, operand>
    ```
  }];
  let arguments = (ins Tile_ViewType:$first, Variadic<Index>:$first_indices,
    Tile_ViewType:$second, Variadic<Index>:$second_indices, Index:$head, Index:$end,
    DenseI64ArrayAttr:$first_sizes, DenseI64ArrayAttr:$second_sizes);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = [{
    $first `[` $first_indices `]` `sizes` $first_sizes `,`
    $second `[` $second_indices `]` `sizes` $second_sizes
    `rows` `(` $head `,` $end `)` attr-dict
    `:` type($first) `,` type($second) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [AttrSizedOperandSegments, MemoryEffects<[MemWrite]>]> {
  let summary = "Writes a tile to memory";
  let description = [{
    The inverse of `tile.load`, with its constraints. Elements past a limit are
    not written. An f32 becomes the view's element type, rounded to nearest even.

    Constraints: (LOAD1) to (LOAD3) of `tile.load`, and

    * (STORE1) Elements of the view have bytes of their own, are digits, or rows of
      bytes behind a scale (`storage::isRowOfBytes`).
    * (STORE2) Of digits the tile has whole blocks of 32, without a limit.
    * (STORE3) Of rows of bytes the tile has as many columns, without a limit.

    Example:

    ```mlir
    tile.store %a, %y[%row, %c0] columns(%n) sizes [1, 64]
        : !tile.tile<64xf32, row>, !tile.view<?x100xf32, [112, 1]>
    ```
  }];
  let arguments = (ins Tile_TileType:$tile, Tile_ViewType:$view, Variadic<Index>:$indices,
    Optional<Index>:$rows, Optional<Index>:$columns, DenseI64ArrayAttr:$sizes);
  let assemblyFormat = [{
    $tile `,` $view `[` $indices `]` (`rows` `(` $rows^ `)`)?
    (`columns` `(` $columns^ `)`)? `sizes` $sizes attr-dict `:` type($tile) `,` type($view)
  }];
  let hasVerifier = 1;
}

def Tile_SplatOp : Tile_Op<"splat", [Pure]> {
  let summary = "A tile whose elements are one scalar";
  let description = [{
    Example: `%zero = tile.splat %c : !tile.tile<4x12xf32, accumulator>`
  }];
  let arguments = (ins F32:$value);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
}

def Tile_MapOp : Tile_Op<"map", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "Computes each element from the elements at its place";
  let description = [{
    Applies the region to every element. A block operand gives its element, a
    `row` the element of the column, a `column` the element of the row, a scalar
    itself: scaling rows and columns, gates, and masks by select on
    `tile.row_index` and `tile.column_index` are all maps.

    Constraints:

    * (MAP1) A block operand has the result's shape.
    * (MAP2) A `row` operand has as many elements as the result has columns, a
      `column` as many as it has rows.
    * (MAP3) The region takes one f32 for each operand and yields one f32.
    * (MAP4) The region holds scalar `arith` and `math` ops and the two index ops.

    Example:

    ```mlir
    %s = tile.map(%state, %decay, %k, %v)
        : (!tile.tile<128x64xf32, accumulator>, f32, !tile.tile<128xf32, column>,
           !tile.tile<64xf32, row>) -> !tile.tile<128x64xf32, accumulator> {
    ^bb0(%se: f32, %de: f32, %ke: f32, %ve: f32):
      %a = arith.mulf %se, %de : f32
      %b = math.fma %ke, %ve, %a : f32
      tile.yield %b : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_Value>:$inputs);
  let results = (outs Tile_TileType:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $inputs `)` `:` functional-type($inputs, $result) $body attr-dict
  }];
  let hasVerifier = 1;
}

def Tile_RowIndexOp : Tile_Op<"row_index", [Pure, HasParent<"MapOp">]> {
  let summary = "The row of the element that a map computes";
  let description = [{
    Example: `%r = tile.row_index`
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

def Tile_ColumnIndexOp : Tile_Op<"column_index", [Pure, HasParent<"MapOp">]> {
  let summary = "The column of the element that a map computes";
  let description = [{
    Example: `%c = tile.column_index`
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

def Tile_ShiftOp : Tile_Op<"shift", [Pure]> {
  let summary = "A row moved by some columns";
  let description = [{
    `result[c] = tile[c + by]` where the tile has such a column, else 0. What a
    convolution along the columns adds up.

    Constraints:

    * (SHIFT1) The tile is a `row`, and so is the result, of the same shape; at
      scheduled level the tile lies in shared memory.

    Example: `%left = tile.shift %a by -1 : !tile.tile<64xf32, row>`
  }];
  let arguments = (ins Tile_TileType:$tile, I64Attr:$by);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = "$tile `by` $by attr-dict `:` custom<SameTile>(type($tile), type($result))";
  let hasVerifier = 1;
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure]> {
  let summary = "Combines the elements of a tile along rows or columns";
  let description = [{
    `over rows` of a block gives a `row` (one element per column), `over
    columns` a `column`; a `row` or `column` reduces to a scalar. The order of
    the additions is fixed by the shape and the target alone.

    At scheduled level each thread combines what it holds, then the lanes of a
    warp exchange what they have, and warps that hold other elements go through
    shared memory from byte `scratch` on. Every thread gets the whole result.

    Constraints:

    * (TILE_REDUCE1) The result of a block is the `row` or `column` that remains.
    * (TILE_REDUCE2) The result of a `row` or `column` is an f32.
    * (TILE_REDUCE3) `scratch` is a multiple of 16, at least 0; a tile in registers has
      one, unless the places of its kernel are not decided yet.

    Example:
    `%o = tile.reduce add %p over rows : !tile.tile<128x64xf32, accumulator> -> !tile.tile<64xf32, row>`
  }];
  let arguments = (ins Tile_ReduceKind:$kind, Tile_TileType:$tile, UnitAttr:$over_rows,
    OptionalAttr<I64Attr>:$scratch);
  let results = (outs Tile_Value:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "ReduceKind":$kind,
    "::mlir::Value":$tile, "bool":$over_rows), [{
    build($_builder, $_state, result, kind, tile, over_rows, ::mlir::IntegerAttr());
  }]>];
  let assemblyFormat = [{
    $kind $tile `over` (`rows` $over_rows^) : (`columns`)? (`scratch` $scratch^)? attr-dict `:` type($tile) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "Adds a matrix product to an accumulator";
  let description = [{
    `result = acc + op(a) . op(b)`, where `op` transposes the operand that is
    marked. Products are accumulated in f32 along the contracted dimension in an
    order that depends on its length alone, so that a row of the result depends
    on nothing but the row of `a`, whatever the other shapes. `rounded to` a type
    allows each element of `a` and `b` to be rounded to the nearest of that type first:
    one product of tensor cores in place of up to six for bf16 and f16, which is
    infinite beyond 65504; two for tf32, which has 10 bits behind the point as f16 and
    the range of f32. Rounded to `!storage.digits`, which the host has, `a` alone is
    rounded; `b` is read from a view of panels, and sums are of integers
    (codegen/host/PanelDots.cpp has the formula).

    `by` names the product unit that forms it at scheduled level, without which that is
    `#tile.mma_sync`. The lowering to a GPU's threads takes no unit but the target's.

    Constraints:

    * (DOT1) `op(a)` is M x K, `op(b)` K x N and `acc` M x N.
    * (DOT2) `acc` has the role `accumulator`.
    * (DOT3) The type that is rounded to, where present, is bf16, f16, tf32 or digits.
    * (DOT4) At scheduled level `b` lies in shared memory, and so does `a`, unless it
      lies as `acc` does, in `#tile.mma` with all warps along the rows, is not
      transposed and has a multiple of 16 columns.
    * (DOT5) At scheduled level the product unit takes `a` and `b` as they lie: swizzled
      rows are none of `#tile.mma_sync`'s, and `#tile.wgmma` takes no other `b`.
    * (DOT6) Where `a` is rounded to digits, `b` is transposed and `a` is not.
    * (DOT7) There is a `unit` at scheduled level alone.

    Example:

    ```mlir
    %y = tile.dot %acc, %x, %w transpose_b : !tile.tile<4x12xf32, accumulator>,
        !tile.tile<4x768xf32, operand>, !tile.tile<12x768xf32, operand>
    ```
  }];
  let arguments = (ins Tile_TileType:$acc, Tile_TileType:$a, Tile_TileType:$b,
    UnitAttr:$transpose_a, UnitAttr:$transpose_b, OptionalAttr<TypeAttr>:$rounded_to,
    OptionalAttr<Tile_ProductUnit>:$unit);
  let results = (outs Tile_TileType:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$acc, "::mlir::Value":$a,
    "::mlir::Value":$b, "bool":$transposeA, "bool":$transposeB,
    "::mlir::TypeAttr":$roundedTo), [{
    build($_builder, $_state, acc.getType(), acc, a, b, transposeA, transposeB, roundedTo,
          /*unit=*/ProductUnit());
  }]>];
  let assemblyFormat = [{
    $acc `,` $a `,` $b (`transpose_a` $transpose_a^)? (`transpose_b` $transpose_b^)?
    (`rounded` `to` $rounded_to^)? (`by` `(` $unit^ `)`)? attr-dict `:` type($acc) `,` type($a) `,` type($b)
  }];
  let extraClassDeclaration = [{
    /// Whether A could be held as sums are, by threads that then have whole fragments
    /// of it: rows that are contracted, a multiple of 16 columns.
    bool canTakeHeldRows();
    /// Whether an A that lies so is taken from the registers that hold it.
    bool takesHeldRows(::mlir::Attribute layout);
  }];
  let hasVerifier = 1;
}

def Tile_TopKOp : Tile_Op<"top_k", [Pure]> {
  let summary = "The largest elements of a row, or sums of two rows, in order";
  let description = [{
    Of one row the `K` elements that come first, the largest first and of equal
    ones the lowest number first, as `values` with their `numbers`. Of two rows of
    `S` elements the same of the `S * S` sums of an element of either, where the
    sum of `a[i]` and `b[j]` has the number `i S + j`; only sums that can be among
    the first are formed, see `seq.choose_rows`. NaN counts as the largest.

    Constraints:

    * (TILE_TOP_K1) The operands are one or two `row`s of as many f32.
    * (TILE_TOP_K2) `values` is a `row` of f32 and `numbers` one of i32, both of K
      elements, K at most the number of elements or sums.

    At scheduled level the scores lie in shared memory, and warps exchange their
    best through it from byte `scratch` on.

    Example:

    ```mlir
    %values, %numbers = tile.top_k %a, %b
        : !tile.tile<7xf32, row>, !tile.tile<7xf32, row>
          -> !tile.tile<4xf32, row>, !tile.tile<4xi32, row>
    ```
  }];
  let arguments = (ins Variadic<Tile_TileType>:$scores,           /*tile_top_k1*/
    OptionalAttr<I64Attr>:$scratch);
  let results = (outs Tile_TileType:$values, Tile_TileType:$numbers); /*tile_top_k2*/
  let builders = [OpBuilder<(ins "::mlir::Type":$values, "::mlir::Type":$numbers,
    "::mlir::ValueRange":$scores), [{
    build($_builder, $_state, values, numbers, scores, ::mlir::IntegerAttr());
  }]>];
  let assemblyFormat = [{
    $scores (`scratch` $scratch^)? attr-dict `:` type($scores) `->` type($values) `,` type($numbers)
  }];
  let hasVerifier = 1;
}

def Tile_TakeOp : Tile_Op<"take", [Pure]> {
  let summary = "Elements of a row by their numbers";
  let description = [{
    `result[j] = tile[numbers[j]]`: of a row, the elements that `tile.top_k` has
    chosen by another one, or those that weights number. Of numbers in f32 the whole
    part counts. A number outside of the row has no meaning.

    Constraints:

    * (TILE_TAKE1) The tile is a `row` of f32 and `numbers` a `row` of i32 or f32.
    * (TILE_TAKE2) The result is a `row` of as many f32 as there are numbers.

    At scheduled level the tile lies in shared memory.

    Example:

    ```mlir
    %t = tile.take %a by %numbers
        : !tile.tile<7xf32, row>, !tile.tile<4xi32, row> -> !tile.tile<4xf32, row>
    %u = tile.take %a by %order
        : !tile.tile<7xf32, row>, !tile.tile<7xf32, row> -> !tile.tile<7xf32, row>
    ```
  }];
  let arguments = (ins Tile_TileType:$tile, Tile_TileType:$numbers); /*tile_take1*/
  let results = (outs Tile_TileType:$result);                       /*tile_take2*/
  let assemblyFormat = [{
    $tile `by` $numbers attr-dict `:` type($tile) `,` type($numbers) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_GatherRowsOp : Tile_Op<"gather_rows", [AttrSizedOperandSegments,
    MemoryEffects<[MemRead]>]> {
  let summary = "Reads a tile whose rows lie anywhere in a view";
  let description = [{
    Row `r` of the tile is row `numbers[at + r]` of the view, from `column` on:

    ```
    result[r, c] = view[numbers[at + r], column + c]
    ```

    where `at` are the indices into `numbers`, and `r` runs along its last
    dimension. `rows(%n)` and `columns(%n)` limit the tile as those of
    `tile.load` do; numbers past the limit are not read.

    Constraints:

    * (TILE_GATHER_ROWS1) The view has two dimensions, its columns one element apart.
    * (TILE_GATHER_ROWS2) `numbers` is a view of i32, the last dimension one element
      apart, with one index for each dimension.
    * (TILE_GATHER_ROWS3) The result is a block.

    Example:

    ```mlir
    %t = tile.gather_rows %table[%c] by %numbers[%row, %j] columns(%n)
        : !tile.view<49x12xf32, [16, 1]>, !tile.view<?x4xi32, [16, 1]>
          -> !tile.tile<4x8xf32, operand>
    ```
  }];
  let arguments = (ins Tile_ViewType:$view, Index:$column, Tile_ViewType:$numbers,
    Variadic<Index>:$indices, Optional<Index>:$rows, Optional<Index>:$columns);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = [{
    $view `[` $column `]` `by` $numbers `[` $indices `]` (`rows` `(` $rows^ `)`)?
    (`columns` `(` $columns^ `)`)? attr-dict `:` type($view) `,` type($numbers)
    `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_PipelineOp : Tile_Op<"pipeline", [RecursiveMemoryEffects,
    AllTypesMatch<["inits", "results"]>]> {
  let summary = "A loop whose loads may run ahead of its arithmetic";
  let description = [{
    For `k` from 0 to `extent` in steps of `step`: runs the load region, then
    the compute region on what it loaded and on the carried tiles. The load
    region may run up to `stages - 1` iterations ahead, so it may read only
    memory that the kernel does not write; running the regions in order is
    always right, and is what the host does.

    Constraints:

    * (PIPELINE1) `extent` is a positive multiple of `step`, and `stages` at least 1.
    * (PIPELINE2) The load region takes `k` and yields tiles.
    * (PIPELINE3) The compute region takes the loaded tiles, then the carried ones, and
      yields the carried ones' next values.

    Example:

    ```mlir
    %y = tile.pipeline stages 3 extent 768 step 64 iter(%zero)
        : !tile.tile<4x12xf32, accumulator> load {
    ^bb0(%k: index):
      %a = tile.load %x[%r, %k] sizes [4, 64]
          : !tile.view<?x768xf32, [768, 1]> -> !tile.tile<4x64xf32, operand>
      %b = tile.load %w[%n, %k] sizes [12, 64]
          : !tile.view<60x768xf32, [768, 1]> -> !tile.tile<12x64xf32, operand>
      tile.yield %a, %b : !tile.tile<4x64xf32, operand>, !tile.tile<12x64xf32, operand>
    } compute {
    ^bb0(%a: !tile.tile<4x64xf32, operand>, %b: !tile.tile<12x64xf32, operand>,
         %acc: !tile.tile<4x12xf32, accumulator>):
      %d = tile.dot %acc, %a, %b transpose_b : !tile.tile<4x12xf32, accumulator>,
          !tile.tile<4x64xf32, operand>, !tile.tile<12x64xf32, operand>
      tile.yield %d : !tile.tile<4x12xf32, accumulator>
    }
    ```
  }];
  let arguments = (ins I64Attr:$stages, I64Attr:$extent, I64Attr:$step,
    Variadic<Tile_TileType>:$inits);
  let results = (outs Variadic<Tile_TileType>:$results);
  let regions = (region SizedRegion<1>:$load, SizedRegion<1>:$compute);
  let assemblyFormat = [{
    `stages` $stages `extent` $extent `step` $step `iter` `(` $inits `)` `:`
    type($inits) `load` $load `compute` $compute attr-dict
  }];
  let hasVerifier = 1;
}

include "dialects/tile/SumOps.td"
include "dialects/tile/ScheduledOps.td"
include "dialects/tile/BoxOps.td"
include "dialects/tile/units/WarpProduct.td"
include "dialects/tile/units/WarpGroupProduct.td"

#endif
