//===- Passes.td - from models to kernels and plans -----------------------===//
#ifndef EFFC_PASSES_SEQTOTILE_PASSES_TD
#define EFFC_PASSES_SEQTOTILE_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertSeqToTilePass : Pass<"convert-seq-to-tile", "::mlir::ModuleOp"> {
  let summary = "Translate each seq.kernel to a tile.kernel and each entry to a plan";
  let description = [{
    Every function with a `seq.entry` attribute becomes a `plan.entry`; each
    `seq.kernel` in it becomes a launch of a `tile.kernel`, which is built once
    for all kernels of the same body, types and entry class. A kernel's builder
    follows from its one root op: a product, a norm, a gather, the short
    convolution, or a mixer, of which only class, structure record, token map and
    read-out are read. Slices and reshapes become addresses, and so does a tensor
    that joins rows of results which nobody else reads: they are written to their
    parts of it, and what would join them is no launch
    (test/passes/seq_to_tile/joined-results.mlir). A result that is
    `narrow` becomes a buffer of `narrow_to`, and all views of it have that type; one that
    is a state or what the call gives is an error. Where the target has a `library`,
    launches of products of bf16, or of f16, of 64 rows or more that do nothing else are
    marked, so that a device may have the library do them.

    Needs: entries whose ops all stand in `seq.kernel` regions
    (`seq-form-kernels`), `seq.state_layout` (`seq-plan-state`), and a form on
    every mixer (`seq-choose-forms`).
    Keeps: `seq.weight` declarations and the module's attributes.
    Not done: nothing is fused and no form is chosen here; buffers get sizes but
    no offsets (`plan-assign-arena`).

    Example: test/passes/seq_to_tile/convert-seq-to-tile.mlir
  }];
  let dependentDialects = ["::effc::tile::TileDialect", "::effc::plan::PlanDialect",
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect"];
}

def ChainLaunchesPass : Pass<"tile-chain-launches", "::mlir::ModuleOp"> {
  let summary = "Launch together what hands on an item's results to the same item";
  let description = [{
    On a GPU a step is many short launches, each of which waits for the one before it. Two
    launches of a decode entry become one where the second is the first to read what the
    first writes, both have the same items, and an item of the second loads exactly what
    the same item of the first has stored, as the two products of a gated layer do. What is
    handed on stays in registers, rounded to what it was in memory, so that no bit changes.
    Where later launches read it as well, it is stored too. Each such launch is a remark.

    Needs: plans and kernels that have no schedule yet (`convert-seq-to-tile`). A module
    for the host stays as it is.
    Keeps: what every other buffer holds after the entry.
    Not done: loads within limits, and entries for prompts, where both products' sums
    would take the registers of a second block.

    Example: test/passes/seq_to_tile/chain-launches.mlir
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def JoinLaunchesPass : Pass<"tile-join-launches", "::mlir::ModuleOp"> {
  let summary = "Launch together what a step computes of the same rows";
  let description = [{
    On a GPU a step is many short launches, each of which waits for the one before it.
    Launches of a decode entry become one where they are products of weights with the
    same rows, or have one kernel for different operands, as convolutions and norms of
    queries and keys do. Of rows that have nothing in common brief launches become one where
    their kernels do alike, such as norms of two widths
    (test/passes/seq_to_tile/join-launches-alike.mlir). None of them may read or write what
    another, or a launch between them, writes. The joined kernel has the items of all its
    parts, those of a tile of rows one part behind another, and an item does what it did
    before, so that no bit changes. Each joined launch is a remark.

    Needs: plans and kernels that have no schedule yet (`convert-seq-to-tile`). A module
    for the host stays as it is.
    Keeps: what every buffer holds after the entry.
    Not done: entries for prompts, whose launches fill the cores. What is made of weights
    alone (`seq-unpack-weights`) stays a launch for each, since all layers' are independent.

    Example: test/passes/seq_to_tile/join-launches.mlir
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

#endif
