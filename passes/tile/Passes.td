//===- Passes.td - from kernel level to scheduled level -------------------===//
//
// Five passes, in this order; each says in `#tile.schedule` how much is decided. A
// kernel of which a pass's part is decided stays as it is; one of which too little is,
// is an error.
#ifndef EFFC_PASSES_TILE_PASSES_TD
#define EFFC_PASSES_TILE_PASSES_TD

include "mlir/Pass/PassBase.td"

def ChooseThreadsPass : Pass<"tile-choose-threads", "::effc::tile::KernelOp"> {
  let summary = "Choose how many threads run a work item";
  let description = [{
    Gives a kernel a `#tile.schedule`: as many threads, a power of two from one warp on,
    that each has at most 32 elements of the largest block and 8 of the longest row or
    column. There are twice as many while threads would hold more than 96 elements beside
    a product (128 where its operands have 16 bits), as long as a block of the target may.
    The same holds where nothing is multiplied and threads would hold more than 64 of what
    a loop carries or uses from outside, or of what is loaded elsewhere. Where rounded sums
    of one product are the rows of another, there are instead 32 threads for each 16 rows,
    at least 128, if these have room: so the sums stay in registers.

    Needs: a kernel at kernel level. Without a `block` in the module's target, a block
    may have 256 threads.
    Keeps: everything but the schedule.
    Not done: counts that are no power of two.

    Example: test/passes/tile/choose-threads.mlir
  }];
  let dependentDialects = ["::effc::tile::TileDialect"];
}

def AssignLayoutsPass : Pass<"tile-assign-layouts", "::effc::tile::KernelOp"> {
  let summary = "Say in which registers, or in shared memory, each tile lies";
  let description = [{
    Tiles that are elements of the same maps, or the same tile in each turn of a loop,
    share a layout: accumulators of products lie as the tensor cores leave them
    (`#tile.mma`), other blocks in runs of columns (`#tile.lin`), by a formula of
    shape and threads. Operands of products, scans and the like lie in shared
    memory (`#tile.shared`), loaded there at once where nothing else reads them.
    Changes of layout become `tile.convert`. What products alone read lies there in the
    type that it is stored in or rounded to.

    Of the target's product units the first that can form a product does, which the
    product then names, and its operands lie in the rows that the unit wants: of
    `#tile.wgmma`, which is left out where bits are to be stable, 16-bit columns lie
    swizzled. Sums of a rounded product that are the rows of another stay in registers.

    Needs: a schedule with threads (`tile-choose-threads`), and of each product a unit
    of the target that can form it.
    Keeps: the order of the ops, and all arithmetic.
    Not done: tiles in shared memory have no offset yet (`tile-place-shared`); what is
    written there may be read before all have written it (`tile-insert-barriers`).

    Example: test/passes/tile/assign-layouts.mlir
  }];
  let dependentDialects = ["::effc::tile::TileDialect"];
}

def FetchAheadPass : Pass<"tile-fetch-ahead", "::effc::tile::KernelOp"> {
  let summary = "Make loops that load ahead of pipelines of several stages";
  let description = [{
    A `tile.pipeline` of several stages becomes a `tile.ring` of as many slots and an
    `scf.for` that fetches later steps while it computes one, with the one
    `tile.barrier` that a turn needs. Boxes fill a ring (`tile.fetch_box`) whose layout
    takes them where a box of an operand is just its tile. A turn fetches before it
    computes, or behind its last product where that runs beside the threads.

    Needs: layouts (`tile-assign-layouts`), and no places yet: rings get theirs
    with all else.
    Keeps: all arithmetic and its order.
    Not done: a pipeline stays as it is, a loop that loads and then computes, where
    others than products read what it loads, where a tile is loaded twice or handed on
    twice, where elements change their type on the way, or where there is one stage or
    one step.

    Example: test/passes/tile/fetch-ahead.mlir
  }];
  let dependentDialects = ["::effc::tile::TileDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect"];
}

def PlaceSharedPass : Pass<"tile-place-shared", "::effc::tile::KernelOp"> {
  let summary = "Give tiles and exchanges their bytes of shared memory";
  let description = [{
    Every tile in shared memory gets an `offset`, every `tile.reduce`,
    `tile.segment_decay` and `tile.top_k` a `scratch`, and every ring of boxes its
    `arrivals`: in the order of the code, each as low as it fits beside those in use at
    the same time. Rings of boxes are in use from the kernel's begin on, mbarriers as
    long as it runs. The schedule gets how many bytes all take.

    Needs: layouts (`tile-assign-layouts`).
    Keeps: the ops and their order.
    Not done: no search over orders. A kernel that needs more than a block of the
    module's target has is an error; without a `block` in the target that is 163 KiB.

    Example: test/passes/tile/place-shared.mlir
  }];
  let dependentDialects = ["::effc::tile::TileDialect"];
}

def InsertBarriersPass : Pass<"tile-insert-barriers", "::effc::tile::KernelOp"> {
  let summary = "Put a barrier where threads would meet";
  let description = [{
    Puts a `tile.barrier` before each op that reads what other threads may have
    written since the last barrier, or writes what they may still read: bytes of shared
    memory, and whole views that the kernel writes. In a loop that holds from one turn
    to the next. None stands between loads and stores of one box whose elements each
    lie in one thread, the same in both.

    Needs: places (`tile-place-shared`).
    Keeps: the ops and their order, and barriers that are there.
    Not done: two parts of one view are not told apart.

    Example: test/passes/tile/insert-barriers.mlir
  }];
  let dependentDialects = ["::effc::tile::TileDialect"];
}

#endif
