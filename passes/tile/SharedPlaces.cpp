// Lifetimes -> offsets, first fit in the order of the code.
#include "passes/tile/SharedPlaces.h"

#include "dialects/tile/Distribution.h"
#include "dialects/tile/SegmentTables.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace effc;
using namespace effc::tile;

int64_t effc::exchangeBytes(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    TileType type = reduce.getTile().getType();
    int64_t warps = getThreads(type.getLayout()) / kWarp;
    int64_t results =
        !type.isBlock() ? 1
                        : (reduce.getOverRows() ? type.columns() : type.rows());
    return llvm::alignTo(warps * results * 4, kSharedAlignment);
  }
  if (auto decay = dyn_cast<SegmentDecayOp>(op))
    return llvm::alignTo(SegmentTables(decay.getTile().getType().rows()).bytes,
                         kSharedAlignment);
  auto topK = cast<TopKOp>(op);
  TileType type = topK.getValues().getType();
  int64_t warps = getThreads(type.getLayout()) / kWarp;
  // A best entry of each warp, then values and numbers of two ordered rows.
  return llvm::alignTo(warps * 8, kSharedAlignment) +
         llvm::alignTo(16 * type.columns(), kSharedAlignment);
}

namespace {
/// Bytes that are in use from op number `first` to op number `last`.
struct Lifetime {
  int64_t first, last, bytes;
  int64_t alignment = kSharedAlignment;
  int64_t offset = -1;
};

class Places {
public:
  explicit Places(KernelOp kernel) : kernel(kernel) {
    int64_t next = 0;
    kernel.getBody().walk<WalkOrder::PreOrder>(
        [&](Operation *op) { numbers[op] = next++; });
  }
  int64_t run();

private:
  Lifetime lifetimeOf(Value tile);
  int64_t place(Lifetime lifetime);

  KernelOp kernel;
  DenseMap<Operation *, int64_t> numbers;
  SmallVector<Lifetime> placed;
  int64_t bytes = 0;
};
} // namespace

// Last use of a tile and of those that it is handed on to. A use in a loop that
// the tile is defined before lasts until the loop ends.
Lifetime Places::lifetimeOf(Value tile) {
  auto type = cast<TileType>(tile.getType());
  Operation *start = tile.getDefiningOp();
  auto layout = cast<SharedAttr>(type.getLayout());
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

int64_t Places::place(Lifetime life) {
  int64_t offset = 0;
  bool moved = true;
  while (moved) {
    moved = false;
    for (const Lifetime &other : placed)
      if (life.first <= other.last && other.first <= life.last &&
          offset < other.offset + other.bytes &&
          other.offset < offset + life.bytes) {
        offset = llvm::alignTo(other.offset + other.bytes, life.alignment);
        moved = true;
      }
  }
  life.offset = offset;
  placed.push_back(life);
  bytes = std::max(bytes, offset + life.bytes);
  return offset;
}

int64_t Places::run() {
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    Builder b(op->getContext());
    if (isa<ReduceOp, SegmentDecayOp, TopKOp>(op)) {
      int64_t number = numbers.lookup(op);
      int64_t offset = place({number, number, exchangeBytes(op)});
      op->setAttr("scratch", b.getI64IntegerAttr(offset));
    }
    if (isa<AwaitOp, AwaitBoxOp>(op)) // its tiles lie in rings
      return;
    for (Value result : op->getResults()) {
      auto type = dyn_cast<TileType>(result.getType());
      auto layout =
          type ? dyn_cast<SharedAttr>(type.getLayout()) : SharedAttr();
      if (!layout)
        continue;
      Lifetime life = lifetimeOf(result);
      // No thread fences what it did to bytes that boxes go to.
      if (auto ring = dyn_cast<RingOp>(op); ring && ring.getArrivals())
        life.first = 0;
      int64_t offset = place(life);
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
    if (auto ring = dyn_cast<RingOp>(op); ring && ring.getArrivals()) {
      int64_t slots =
          cast<SharedAttr>(ring.getResult().getType().getLayout()).getSlots();
      ring.setArrivals(place(
          {0, std::numeric_limits<int64_t>::max(), slots * kArrivalBytes}));
    }
  });
  return bytes;
}

int64_t effc::placeShared(KernelOp kernel) { return Places(kernel).run(); }
