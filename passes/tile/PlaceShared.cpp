// Uses of shared memory -> offsets.
//
// Every tile in shared memory and every exchange gets its bytes from the op
// that writes it to the last that reads it; what is not in use at the same time
// may share bytes. Boxes come before anything else, and mbarriers stay.
#include "passes/kernel_facts/BlockRoom.h"
#include "passes/tile/Exchanges.h"
#include "passes/tile/Passes.h"
#include "passes/tile/Progress.h"
#include "passes/tile/SharedPlaces.h"

#include "dialects/tile/Distribution.h"

#include <limits>

using namespace mlir;
using namespace effc::tile;

namespace effc {
#define GEN_PASS_DEF_PLACESHAREDPASS
#include "passes/tile/Passes.h.inc"
} // namespace effc

using namespace effc;

namespace {
class Placement {
public:
  explicit Placement(KernelOp kernel) : kernel(kernel) {
    int64_t next = 0;
    kernel.getBody().walk<WalkOrder::PreOrder>(
        [&](Operation *op) { numbers[op] = next++; });
  }
  int64_t run();

private:
  Lifetime lifetimeOf(Value tile);

  KernelOp kernel;
  DenseMap<Operation *, int64_t> numbers;
  SharedPlaces places;
};
} // namespace

// Last use of a tile and of those that it is handed on to. A use in a loop that
// the tile is defined before lasts until the loop ends.
Lifetime Placement::lifetimeOf(Value tile) {
  auto type = cast<TileType>(tile.getType());
  Operation *start = tile.getDefiningOp();
  SharedAttr layout = type.getSharedLayout();
  Lifetime life{numbers.lookup(start), numbers.lookup(start),
                layout.getSlots() * sharedBytes(type), layout.getAlignment()};
  SmallVector<Value> values = {tile};
  while (!values.empty()) {
    Value value = values.pop_back_val();
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      auto pipeline = dyn_cast<PipelineOp>(user->getParentOp());
      if (isa<YieldOp>(user) && pipeline) {
        Block &compute = pipeline.getCompute().front();
        if (user->getBlock() != &compute)
          values.push_back(compute.getArgument(use.getOperandNumber()));
        continue;
      }
      Operation *last = user;
      while (!last->getParentOp()->isAncestor(start))
        last = last->getParentOp();
      int64_t number = numbers.lookup(last);
      if (last != user) // past everything inside
        last->walk([&](Operation *inside) {
          number = std::max(number, numbers.lookup(inside));
        });
      life.last = std::max(life.last, number);
    }
  }
  return life;
}

int64_t Placement::run() {
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    Builder b(op->getContext());
    if (isa<ReduceOp, SegmentDecayOp, TopKOp>(op)) {
      int64_t number = numbers.lookup(op);
      int64_t offset = places.place({number, number, exchangeBytes(op)});
      op->setAttr("scratch", b.getI64IntegerAttr(offset));
    }
    if (isa<AwaitOp, AwaitBoxOp>(op)) // its tiles lie in rings
      return;
    for (Value result : op->getResults()) {
      auto type = dyn_cast<TileType>(result.getType());
      auto layout = type ? type.getSharedLayout() : SharedAttr();
      if (!layout)
        continue;
      Lifetime life = lifetimeOf(result);
      // No thread fences what it did to bytes that boxes go to.
      if (auto ring = dyn_cast<RingOp>(op); ring && ring.isFilledByBoxes())
        life.first = 0;
      int64_t offset = places.place(life);
      auto at = type.withLayout(layout.withOffset(offset));
      result.setType(at);
      for (OpOperand &use : result.getUses())
        if (auto await = dyn_cast<AwaitOp>(use.getOwner()))
          await.getResult(use.getOperandNumber())
              .setType(type.withLayout(layout.withOffset(offset).withSlots(1)));
        else if (auto box = dyn_cast<AwaitBoxOp>(use.getOwner()))
          box.getResult().setType(
              type.withLayout(layout.withOffset(offset).withSlots(1)));
      // A pipeline hands its loaded tiles on as they lie.
      for (OpOperand &use : result.getUses())
        if (auto pipeline = dyn_cast<PipelineOp>(use.getOwner()->getParentOp());
            pipeline && isa<YieldOp>(use.getOwner()))
          pipeline.getCompute().getArgument(use.getOperandNumber()).setType(at);
    }
    // Bytes of an mbarrier stay one as long as the kernel runs.
    if (auto ring = dyn_cast<RingOp>(op); ring && ring.isFilledByBoxes()) {
      int64_t slots = ring.getResult().getType().getSharedLayout().getSlots();
      ring.setArrivals(places.place(
          {0, std::numeric_limits<int64_t>::max(), slots * kArrivalBytes}));
    }
  });
  return places.getBytes();
}

namespace {
struct PlaceSharedPass : effc::impl::PlaceSharedPassBase<PlaceSharedPass> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    FailureOr<bool> due = isDue(kernel, getArgument(), Decided::Places);
    if (failed(due))
      return signalPassFailure();
    if (!*due)
      return;
    FailureOr<BlockRoom> room = BlockRoom::find(kernel);
    if (failed(room))
      return signalPassFailure();
    int64_t bytes = Placement(kernel).run();
    int64_t most = room->sharedBytes;
    if (bytes > most) {
      InFlightDiagnostic error = kernel.emitError("kernel '")
                                 << kernel.getSymName() << "' needs " << bytes
                                 << " bytes of shared memory, but a block of "
                                    "the target has "
                                 << most;
      if (!getTarget(kernel).getRoundedTo())
        error << "; operands of products that are rounded (--products bf16) "
                 "take half of it";
      return signalPassFailure();
    }
    kernel.setScheduleAttr(ScheduleAttr::get(&getContext(),
                                             kernel.getSchedule()->getThreads(),
                                             bytes, Decided::Places));
  }
};
} // namespace
