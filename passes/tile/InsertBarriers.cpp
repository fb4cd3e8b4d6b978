// Conflicting accesses -> barriers.
//
// The walk keeps what has been read and written since the last barrier. A
// loop's body is walked twice, the second time from what the first left, so
// that an iteration waits for the one before where it must, and only there.
#include "passes/tile/Barriers.h"
#include "passes/tile/Passes.h"
#include "passes/tile/Progress.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace effc::tile;

namespace effc {
#define GEN_PASS_DEF_INSERTBARRIERSPASS
#include "passes/tile/Passes.h.inc"
} // namespace effc

using namespace effc;

namespace {
class BarrierInsertion {
public:
  void walk(Block &block);

private:
  void loop(ArrayRef<Block *> body);

  AccessesSinceBarrier pending;
};
} // namespace

void BarrierInsertion::loop(ArrayRef<Block *> body) {
  AccessesSinceBarrier before = pending;
  for (int pass = 0; pass < 2; ++pass)
    for (Block *block : body)
      walk(*block);
  pending.join(before); // no iteration at all
}

void BarrierInsertion::walk(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isa<BarrierOp>(op)) {
      pending.clear();
      continue;
    }
    if (auto nest = dyn_cast<scf::ForOp>(op)) {
      loop({nest.getBody()});
      continue;
    }
    if (auto pipeline = dyn_cast<PipelineOp>(op)) {
      loop({&pipeline.getLoad().front(), &pipeline.getCompute().front()});
      continue;
    }
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      assert(!branch.elseBlock() && "kernels have no such branch");
      loop({branch.thenBlock()}); // perhaps not at all
      continue;
    }
    if (pending.needsBarrierBefore(accessesOf(&op))) {
      OpBuilder b(&op);
      BarrierOp::create(b, op.getLoc());
    }
  }
}

namespace {
struct InsertBarriersPass
    : effc::impl::InsertBarriersPassBase<InsertBarriersPass> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    FailureOr<bool> due = isDue(kernel, getArgument(), Decided::Barriers);
    if (failed(due))
      return signalPassFailure();
    if (!*due)
      return;
    BarrierInsertion().walk(kernel.getBody().front());
    ScheduleAttr placed = *kernel.getSchedule();
    kernel.setScheduleAttr(ScheduleAttr::get(&getContext(), placed.getThreads(),
                                             placed.getSharedBytes(),
                                             Decided::Barriers));
  }
};
} // namespace
