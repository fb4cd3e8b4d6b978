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
struct SchedulePass : impl::SchedulePassBase<SchedulePass> {
  using SchedulePassBase::SchedulePassBase;

  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    if (kernel.getSchedule())
      return;
    int64_t threads = chooseThreads(kernel, maxThreads);
    assignLayouts(kernel, threads, warpGroups);
    fetchAhead(kernel);
    int64_t bytes = placeShared(kernel);
    if (bytes > maxShared) {
      kernel.emitError("kernel '")
          << kernel.getSymName() << "' needs " << bytes
          << " bytes of shared memory, but a block of the target has "
          << int64_t(maxShared);
      return signalPassFailure();
    }
    insertBarriers(kernel);
    kernel.setScheduleAttr(
        tile::ScheduleAttr::get(&getContext(), threads, bytes));
  }
};
} // namespace
} // namespace effc
