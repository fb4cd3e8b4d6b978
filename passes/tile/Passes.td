//===- Passes.td - from kernel level to scheduled level -------------------===//
#ifndef EFFC_PASSES_TILE_PASSES_TD
#define EFFC_PASSES_TILE_PASSES_TD

include "mlir/Pass/PassBase.td"

def SchedulePass : Pass<"tile-schedule", "::effc::tile::KernelOp"> {
  let summary = "Give every tile of a kernel a layout over the threads of a block";
  let description = [{
    Takes a kernel from kernel level to scheduled level for a GPU. All tiles share
    one blocked layout, which the kernel's blocks decide by a fixed table: the
    widest vector of 4, 2 or 1 elements and the most lanes of a warp that divide
    the columns, then the most threads up to `max-threads` whose rows divide the
    blocks' rows. A reduction over rows becomes one inside each thread and a
    `tile.combine` across threads, which gets its place in shared memory.

    Needs: a kernel at kernel level.
    Keeps: the order of the ops; a kernel that it cannot schedule is left as it is,
    with a remark that names the op.
    Not done: products, scans, loops over tiles and reductions to scalars have no
    rule here.

    Example: test/passes/tile/schedule.mlir
  }];
  let options = [
    Option<"maxThreads", "max-threads", "int64_t", /*default=*/"128",
           "Most threads of a block">];
}

#endif
