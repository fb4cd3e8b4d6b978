//===- ScheduledOps.td - the ops of the scheduled level alone -------------===//
//
// Included by TileOps.td, behind the class of all ops.
#ifndef EFFC_DIALECTS_TILE_SCHEDULEDOPS_TD
#define EFFC_DIALECTS_TILE_SCHEDULEDOPS_TD

def Tile_ConvertOp : Tile_Op<"convert", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "The same tile in another layout";
  let description = [{
    Scheduled level only. Writes a tile from registers to shared memory, rounded to
    bf16 or f16 if it is that there, or reads it back into another layout. What is written
    may be read after the next `tile.barrier`; so may the memory of what was read be
    written.

    Constraints:

    * (CONVERT1) One of the two layouts is `#tile.shared` and the other is not.
    * (CONVERT2) Shape and role are the same, and so are elements, but for f32 that
      are written as bf16 or f16.

    Example:

    ```mlir
    %s = tile.convert %a : !tile.tile<64xf32, row, #tile.lin<threads = 128, lanes = 16, vector = 4>>
        -> !tile.tile<64xf32, row, #tile.shared<threads = 128, offset = 0, stride = 64>>
    ```
  }];
  let arguments = (ins Tile_TileType:$tile);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = "$tile attr-dict `:` type($tile) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_BarrierOp : Tile_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits until every thread of the block is here";
  let description = [{
    Scheduled level only. What threads wrote before, to shared memory or to views,
    all of them read after.

    Example: `tile.barrier`
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_RingOp : Tile_Op<"ring", [MemoryEffects<[MemAlloc]>]> {
  let summary = "Places in shared memory for a tile that is fetched ahead";
  let description = [{
    Scheduled level only. As many places for the tile as its layout has slots, one
    after another. Where boxes fill them, there is an mbarrier of 8 bytes for each slot
    from byte `arrivals` of shared memory on.

    Constraints:

    * (RING1) The layout is `#tile.shared` with at least two slots.
    * (RING2) Where `arrivals` is there, it is a multiple of 8, at least 0, and the
      layout is swizzled.

    Example:
    `%r = tile.ring : !tile.tile<64x32xf32, operand, #tile.shared<threads = 128, offset = 0, stride = 36, slots = 3>>`
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$arrivals);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = "(`arrivals` $arrivals^)? attr-dict `:` type($result)";
  let extraClassDeclaration = [{
    /// Whether `tile.fetch_box` fills it, and not `tile.fetch`.
    bool isFilledByBoxes();
  }];
  let hasVerifier = 1;
}

def Tile_FetchOp : Tile_Op<"fetch", [AttrSizedOperandSegments, Tile_StartsCopy,
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Starts copying a box of a view to a slot of a ring";
  let description = [{
    As `tile.load`, of a tile that lies in shared memory when the group of copies
    that the next `tile.commit` closes has been awaited. Elements keep the view's
    type; zeros past a limit.

    Constraints:

    * (FETCH1) (LOAD1) to (LOAD3) of `tile.load`, and the ring's elements are the
      view's.

    Example:

    ```mlir
    tile.fetch %x[%row, %k] sizes [64, 32] into %r[%slot]
        : !tile.view<?x768xf32, [768, 1]>, !tile.tile<64x32xf32, operand,
          #tile.shared<threads = 128, offset = 0, stride = 36, slots = 3>>
    ```
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<Index>:$indices,
    Optional<Index>:$rows, Optional<Index>:$columns, DenseI64ArrayAttr:$sizes,
    Tile_TileType:$ring, Index:$slot);
  let assemblyFormat = [{
    $view `[` $indices `]` (`rows` `(` $rows^ `)`)? (`columns` `(` $columns^ `)`)?
    `sizes` $sizes `into` $ring `[` $slot `]` attr-dict `:` type($view) `,` type($ring)
  }];
  let hasVerifier = 1;
}

def Tile_CommitOp : Tile_Op<"commit", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Closes a group of copies";
  let description = [{
    Scheduled level only. Every `tile.fetch` since the last one, possibly none, is
    a group.

    Example: `tile.commit`
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_AwaitOp : Tile_Op<"await", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits for groups of copies and gives what they brought";
  let description = [{
    Scheduled level only. Until all of this thread's groups but the last `pending`
    have arrived; what other threads copied may be read after the next
    `tile.barrier`. The results are the tiles in slot `slot` of the rings.

    Constraints:

    * (AWAIT1) A result is its ring's tile, with one slot.

    Example:

    ```mlir
    %a = tile.await %r[%slot] pending 1
        : (!tile.tile<64x32xf32, operand, #tile.shared<threads = 128, offset = 0, stride = 36, slots = 3>>)
          -> !tile.tile<64x32xf32, operand, #tile.shared<threads = 128, offset = 0, stride = 36>>
    ```
  }];
  let arguments = (ins Variadic<Tile_TileType>:$rings, Index:$slot, I64Attr:$pending);
  let results = (outs Variadic<Tile_TileType>:$results);
  let assemblyFormat = [{
    $rings `[` $slot `]` `pending` $pending attr-dict `:` functional-type($rings, $results)
  }];
  let hasVerifier = 1;
}

#endif
