// Kernel level -> scheduled level.
//
//   %w: !tile.tile<128x64xf32, accumulator>
//   %o = tile.reduce add %w over rows -> !tile.tile<64xf32, row>
// becomes, with 256 threads of which 16 lie along a row with 4 elements each,
//   %w: !tile.tile<128x64xf32, accumulator, #L>
//   %o = tile.reduce add %w over rows scratch 0 -> !tile.tile<64xf32, row, #L>
#include "passes/tile/FetchAhead.h"
#include "passes/tile/Layouts.h"
#include "passes/tile/Passes.h"
#include "passes/tile/SharedPlaces.h"
#include "passes/tile/Threads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace effc {
#define GEN_PASS_DEF_SCHEDULEPASS
#include "passes/tile/Passes.h.inc"

namespace {
// Of a block of a target that does not say.
constexpr int64_t kThreads = 256, kSharedBytes = 166912;

struct SchedulePass : impl::SchedulePassBase<SchedulePass> {
  using SchedulePassBase::SchedulePassBase;

  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    if (kernel.getSchedule())
      return;
    tile::TargetAttr target = tile::getTarget(kernel);
    tile::BlockLimitsAttr block = target ? target.getBlock() : nullptr;
    if (!block)
      block = tile::BlockLimitsAttr::get(&getContext(), kThreads, kSharedBytes);
    int64_t threads = chooseThreads(kernel, block.getThreads());
    // They add in an order of their own, and only many rows are theirs.
    bool warpGroups =
        target && target.getWarpGroups() && !target.getBitStable();
    assignLayouts(kernel, threads, warpGroups);
    fetchAhead(kernel);
    int64_t bytes = placeShared(kernel);
    if (bytes > block.getSharedBytes()) {
      kernel.emitError("kernel '")
          << kernel.getSymName() << "' needs " << bytes
          << " bytes of shared memory, but a block of the target has "
          << block.getSharedBytes();
      return signalPassFailure();
    }
    insertBarriers(kernel);
    kernel.setScheduleAttr(
        tile::ScheduleAttr::get(&getContext(), threads, bytes));
  }
};
} // namespace
} // namespace effc
