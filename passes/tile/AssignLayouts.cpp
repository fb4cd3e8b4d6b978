// Threads and products -> layouts, which Layouts.cpp chooses.
#include "passes/tile/Layouts.h"
#include "passes/tile/Passes.h"
#include "passes/tile/Progress.h"

#include "dialects/tile/units/Units.h"

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
    int64_t threads = kernel.getSchedule()->getThreads();
    if (failed(assignLayouts(kernel, threads,
                             usableUnits(getTarget(kernel), &getContext()))))
      return signalPassFailure();
    kernel.setScheduleAttr(ScheduleAttr::get(&getContext(), threads,
                                             /*sharedBytes=*/std::nullopt,
                                             Decided::Layouts));
  }
};
} // namespace
} // namespace effc
