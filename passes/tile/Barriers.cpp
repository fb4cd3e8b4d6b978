#include "passes/tile/Barriers.h"

#include "dialects/tile/Distribution.h"
#include "passes/tile/Exchanges.h"

using namespace mlir;
using namespace effc;
using namespace effc::tile;

namespace {
/// A load or store of a box by threads that hold it in registers.
struct Box {
  OperandRange indices;
  ArrayRef<int64_t> sizes;
  TileType tile;
  bool limited;
};
} // namespace

static std::optional<Box> boxOf(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return Box{load.getIndices(), load.getSizes(), load.getResult().getType(),
               load.getRows() || load.getColumns()};
  if (auto store = dyn_cast<StoreOp>(op))
    return Box{store.getIndices(), store.getSizes(), store.getTile().getType(),
               store.getRows() || store.getColumns()};
  return std::nullopt;
}

// Whether each thread meets nobody but itself: the same box, lying alike, every
// element in one thread, at a place that no loop moves. A thread that holds
// something past the shape or a limit reads the box's first element instead.
static bool isOwn(Operation *op, Operation *earlier) {
  std::optional<Box> mine = boxOf(op), other = boxOf(earlier);
  if (!mine || !other || mine->indices != other->indices ||
      mine->sizes != other->sizes ||
      mine->tile.getLayout() != other->tile.getLayout() ||
      mine->tile.getRole() != other->tile.getRole() ||
      mine->tile.getSharedLayout() || mine->limited || other->limited)
    return false;
  Distribution d = Distribution::of(mine->tile);
  int64_t threads = getThreads(mine->tile.getLayout());
  bool once = (d.rows.threadBits() | d.columns.threadBits()) ==
              static_cast<unsigned>(threads - 1);
  return once && d.rows.exact() && d.columns.exact() &&
         llvm::all_of(mine->indices, [](Value index) {
           return isa<KernelOp>(index.getParentBlock()->getParentOp());
         });
}

bool MemoryAccess::Memory::meets(const Memory &other) const {
  if (ring && ring == other.ring)
    return false;
  return view == other.view &&
         (view || (begin < other.end && other.begin < end));
}

// Two stores by one op put the same elements in the same threads; two ops that
// read never meet.
bool MemoryAccess::conflicts(const MemoryAccess &earlier) const {
  return (writes || earlier.writes) && memory.meets(earlier.memory) &&
         !(memory.view && writes && earlier.writes && op == earlier.op) &&
         !(memory.view && isOwn(op, earlier.op));
}

// The ring that a tile is a slot of, or is.
static Value ringOf(Value tile) {
  if (auto await = tile.getDefiningOp<AwaitOp>())
    return await.getRings()[cast<OpResult>(tile).getResultNumber()];
  if (auto await = tile.getDefiningOp<AwaitBoxOp>())
    return await.getRing();
  return tile.getDefiningOp<RingOp>() ? tile : Value();
}

SmallVector<MemoryAccess> effc::accessesOf(Operation *op) {
  SmallVector<MemoryAccess> accesses;
  auto shared = [&](Value tile, bool writes) {
    Value ring = ringOf(tile);
    auto type = dyn_cast<TileType>((ring ? ring : tile).getType());
    auto layout = type ? type.getSharedLayout() : SharedAttr();
    if (layout)
      accesses.push_back(
          {{Value(), *layout.getOffset(),
            *layout.getOffset() + layout.getSlots() * sharedBytes(type), ring},
           writes,
           op});
  };
  auto view = [&](Value memory, bool writes) {
    accesses.push_back({{memory}, writes, op});
  };
  if (isa<AwaitOp, AwaitBoxOp>(op))
    return accesses; // of what was copied
  for (Value operand : op->getOperands()) {
    shared(operand, /*writes=*/op->hasTrait<StartsCopy>());
    if (isa<ViewType>(operand.getType()))
      view(operand, isa<StoreOp>(op));
  }
  for (Value result : op->getResults())
    shared(result, /*writes=*/true);
  // An exchange has its own barrier between writing and reading.
  if (auto scratch = op->getAttrOfType<IntegerAttr>("scratch")) {
    int64_t begin = scratch.getInt();
    accesses.push_back(
        {{Value(), begin, begin + exchangeBytes(op)}, /*writes=*/true, op});
  }
  return accesses;
}

bool AccessesSinceBarrier::needsBarrierBefore(ArrayRef<MemoryAccess> next) {
  bool conflict = llvm::any_of(next, [&](const MemoryAccess &access) {
    return llvm::any_of(accesses, [&](const MemoryAccess &earlier) {
      return access.conflicts(earlier);
    });
  });
  if (conflict)
    clear();
  llvm::append_range(accesses, next);
  return conflict;
}
