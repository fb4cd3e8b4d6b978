//===- Passes.td - passes on the plan dialect -----------------------------===//
#ifndef EFFC_PASSES_PLAN_PASSES_TD
#define EFFC_PASSES_PLAN_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignArenaPass : Pass<"plan-assign-arena", "::effc::plan::EntryOp"> {
  let summary = "Place an entry's buffers in its arena";
  let description = [{
    A buffer lives from the first launch that is passed it to the last. Buffers
    are placed in order of their first launch, each at the lowest multiple of 64
    where it overlaps no other that lives at the same time; the entry's
    `arena_bytes` is where the furthest ends.

    Needs: buffers with sizes.
    Keeps: the launches and their order. Running it again changes nothing.
    Not done: no search over orders; a buffer never moves.

    Example: test/passes/plan/assign-arena.mlir
  }];
}

#endif
