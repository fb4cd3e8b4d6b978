// Threads and products -> layouts, which Layouts.cpp chooses.
#include "passes/tile/Layouts.h"
#include "passes/tile/Passes.h"
#include "passes/tile/Progress.h"

using namespace mlir;
using namespace effc::tile;

namespace effc {
#define GEN_PASS_DEF_ASSIGNLAYOUTSPASS
#include "passes/tile/Passes.h.inc"

namespace {
struct AssignLayoutsPass : impl::AssignLayoutsPassBase<AssignLayoutsPass> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    FailureOr<bool> due = isDue(kernel, getArgument(), Decided::Layouts);
    if (failed(due))
      return signalPassFailure();
    if (!*due)
      return;
    TargetAttr target = getTarget(kernel);
    // They add in an order of their own, and only many rows are theirs.
    bool warpGroups =
        target && target.getWarpGroups() && !target.getBitStable();
    int64_t threads = kernel.getSchedule()->getThreads();
    assignLayouts(kernel, threads, warpGroups);
    kernel.setScheduleAttr(ScheduleAttr::get(&getContext(), threads,
                                             /*sharedBytes=*/std::nullopt,
                                             Decided::Layouts));
  }
};
} // namespace
} // namespace effc
