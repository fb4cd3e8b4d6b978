//===- BoxOps.td - copies of whole boxes ------------------------------------===//
//
// Included by TileOps.td, behind the ops of the scheduled level. A unit of the GPU
// copies a box by itself (TMA); an mbarrier for each slot of a ring counts the bytes
// that have come.
#ifndef EFFC_DIALECTS_TILE_BOXOPS_TD
#define EFFC_DIALECTS_TILE_BOXOPS_TD

def Tile_FetchBoxOp : Tile_Op<"fetch_box", [Tile_StartsCopy,
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Starts copying a whole box of a view to a slot of a ring";
  let description = [{
    Scheduled level only. As `tile.fetch`, by one thread for all: it tells the slot's
    mbarrier how many bytes will come, and a unit of the GPU copies them, with zeros
    past the view's shape. Turn `turn` of a ring goes to slot `turn mod slots`; turns
    are taken in order, from 0 on. Nothing may read or copy to the slot meanwhile.

    Constraints:

    * (FETCHBOX1) The view is an operand of the kernel of two static dimensions, whose
      rows are dense and begin at multiples of 16 bytes, of f32, bf16 or f16.
    * (FETCHBOX2) The ring is that of a `tile.ring` that is swizzled, with `arrivals`
      where the kernel's places are decided; its elements are the view's, and the sizes
      its shape, of at most 256 rows of 128 bytes.
    * (FETCHBOX3) The kernel lists the operand in `streamed` and `aligned`: nothing that
      runs beside it writes it, and it begins at a multiple of 16 bytes.

    That turns are taken in order is not verified; the simulator sees where they are not.

    Example:

    ```mlir
    tile.fetch_box %w[%row, %k] sizes [64, 64] into %r[%turn]
        : !tile.view<768x192xbf16, [192, 1]>, !tile.tile<64x64xbf16, operand,
          #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64, slots = 3>>
    ```
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<Index>:$indices,
    DenseI64ArrayAttr:$sizes, Tile_TileType:$ring, Index:$turn);
  let assemblyFormat = [{
    $view `[` $indices `]` `sizes` $sizes `into` $ring `[` $turn `]` attr-dict
    `:` type($view) `,` type($ring)
  }];
  let hasVerifier = 1;
}

def Tile_AwaitBoxOp : Tile_Op<"await_box", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits until the box of a turn has come and gives it";
  let description = [{
    Scheduled level only. Until the mbarrier of the turn's slot has all bytes of turn
    `turn`; this thread may read them then, and any thread behind the next
    `tile.barrier`. A `tile.barrier` lies between the ring and the first wait.

    Constraints:

    * (AWAITBOX1) The ring is one that boxes can fill (FETCHBOX2), and the result its
      tile with one slot.

    Example:

    ```mlir
    %b = tile.await_box %r[%turn]
        : !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64, slots = 3>>
          -> !tile.tile<64x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64>>
    ```
  }];
  let arguments = (ins Tile_TileType:$ring, Index:$turn);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = "$ring `[` $turn `]` attr-dict `:` type($ring) `->` type($result)";
  let hasVerifier = 1;
}

#endif
