// Conflicting accesses -> barriers.
//
// The walk keeps what has been read and written since the last barrier. A
// loop's body is walked twice, the second time from what the first left, so
// that an iteration waits for the one before where it must, and only there.
#include "passes/tile/SharedPlaces.h"

#include "dialects/tile/Distribution.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace effc;
using namespace effc::tile;

namespace {

/// Bytes of shared memory, or a whole view. What a ring's own loop does with
/// its slots needs no further barriers (FetchAhead.cpp).
struct Place {
  Value view; // null: shared memory
  int64_t begin = 0, end = 0;
  Value ring = {};

  bool meets(const Place &other) const {
    if (ring && ring == other.ring)
      return false;
    return view == other.view &&
           (view || (begin < other.end && other.begin < end));
  }
};

struct Access {
  Place place;
  bool writes;
  Operation *op;

  // Two stores by one op put the same elements in the same threads; two ops
  // that read never meet.
  bool conflicts(const Access &earlier) const {
    return (writes || earlier.writes) && place.meets(earlier.place) &&
           !(place.view && writes && earlier.writes && op == earlier.op) &&
           !(place.view && isOwn(earlier));
  }
  bool isOwn(const Access &earlier) const;
};

/// A load or store of a box by threads that hold it in registers.
struct Box {
  OperandRange indices;
  ArrayRef<int64_t> sizes;
  TileType tile;
  bool limited;
};

class BarrierInsertion {
public:
  void walk(Block &block);

private:
  static SmallVector<Access> accessesOf(Operation *op);
  void loop(ArrayRef<Block *> body);

  SmallVector<Access> pending; // since the last barrier
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
bool Access::isOwn(const Access &earlier) const {
  std::optional<Box> mine = boxOf(op), other = boxOf(earlier.op);
  if (!mine || !other || mine->indices != other->indices ||
      mine->sizes != other->sizes ||
      mine->tile.getLayout() != other->tile.getLayout() ||
      mine->tile.getRole() != other->tile.getRole() ||
      isa<SharedAttr>(mine->tile.getLayout()) || mine->limited ||
      other->limited)
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

// The ring that a tile is a slot of, or is.
static Value ringOf(Value tile) {
  if (auto await = tile.getDefiningOp<AwaitOp>())
    return await.getRings()[cast<OpResult>(tile).getResultNumber()];
  if (auto await = tile.getDefiningOp<AwaitBoxOp>())
    return await.getRing();
  return tile.getDefiningOp<RingOp>() ? tile : Value();
}

SmallVector<Access> BarrierInsertion::accessesOf(Operation *op) {
  SmallVector<Access> accesses;
  auto shared = [&](Value tile, bool writes) {
    Value ring = ringOf(tile);
    auto type = dyn_cast<TileType>((ring ? ring : tile).getType());
    auto layout =
        type ? dyn_cast_or_null<SharedAttr>(type.getLayout()) : SharedAttr();
    if (layout)
      accesses.push_back(
          {{Value(), layout.getOffset(),
            layout.getOffset() + layout.getSlots() * sharedBytes(type), ring},
           writes,
           op});
  };
  auto view = [&](Value memory, bool writes) {
    accesses.push_back({{memory}, writes, op});
  };
  if (isa<AwaitOp, AwaitBoxOp>(op))
    return accesses; // of what was copied
  for (Value operand : op->getOperands()) {
    shared(operand, /*writes=*/isa<FetchOp, FetchBoxOp>(op));
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

void BarrierInsertion::loop(ArrayRef<Block *> body) {
  SmallVector<Access> before = pending;
  for (int pass = 0; pass < 2; ++pass)
    for (Block *block : body)
      walk(*block);
  llvm::append_range(pending, before); // no iteration at all
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
    SmallVector<Access> accesses = accessesOf(&op);
    bool conflict = llvm::any_of(accesses, [&](const Access &access) {
      return llvm::any_of(pending, [&](const Access &earlier) {
        return access.conflicts(earlier);
      });
    });
    if (conflict) {
      OpBuilder b(&op);
      BarrierOp::create(b, op.getLoc());
      pending.clear();
    }
    llvm::append_range(pending, accesses);
  }
}

void effc::insertBarriers(KernelOp kernel) {
  BarrierInsertion().walk(kernel.getBody().front());
}
