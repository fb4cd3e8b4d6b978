//===- Passes.td - from kernel level to scheduled level -------------------===//
#ifndef EFFC_PASSES_TILE_PASSES_TD
#define EFFC_PASSES_TILE_PASSES_TD

include "mlir/Pass/PassBase.td"

def SchedulePass : Pass<"tile-schedule", "::effc::tile::KernelOp"> {
  let summary = "Give every tile of a kernel a place in threads or shared memory";
  let description = [{
    Takes a kernel from kernel level to scheduled level for a GPU. Tiles that are
    elements of the same maps, or the same tile in each turn of a loop, share a
    layout: accumulators of products lie as the tensor cores leave them
    (`#tile.mma`), other blocks in runs of columns (`#tile.lin`), by a formula of
    shape and threads. Operands of products, scans and the like lie in shared
    memory (`#tile.shared`), loaded there at once where nothing else reads them.
    Changes of layout become `tile.convert`, and `tile.barrier` stands exactly
    where threads read what others wrote, or write what others may still read. A
    pipeline of several stages whose tiles only products read fetches ahead into a
    `tile.ring`. Where the module's target says that four warps can multiply together, the
    16-bit columns of their products lie swizzled, and come as boxes where they are
    whole ones of an operand. Sums of a rounded product that are the rows of another
    stay in registers.

    Needs: a kernel at kernel level. Without a `block` in the module's target, that of
    an A100: 256 threads and 163 KiB.
    Keeps: the order of the ops, and all arithmetic.
    Not done: a kernel whose tiles do not fit in a block's shared memory is an error.

    Example: test/passes/tile/schedule.mlir
  }];
  let dependentDialects = ["::effc::tile::TileDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect"];
}

#endif
