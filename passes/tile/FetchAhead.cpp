// Pipelines -> rings and asynchronous copies.
//
//   %y = tile.pipeline stages 3 extent 768 step 64 iter(%zero)
//       load {L} compute {C}
// becomes
//   %r = tile.ring
//   fetch L(0) into %r[0]; commit; fetch L(64) into %r[1]; commit
//   %y = scf.for %k = 0 to 768 step 64 iter_args(%acc = %zero) {
//     %t = tile.await %r[%k / 64 mod 3] pending 1
//     tile.barrier
//     if (%k + 128 < 768) fetch L(%k + 128) into %r[(%k / 64 + 2) mod 3]
//     tile.commit
//     C(%t, %acc)
//   }
// One barrier per iteration is enough: past it all threads have what was
// awaited, and nobody reads the slot of the iteration before any more. Where C's
// last product runs beside the threads, the fetch and its commit stand behind it.
//
// A ring whose layout takes them is filled by boxes where they fit, instead of by
// fetches in groups: `tile.fetch_box` and `tile.await_box`.
#include "passes/tile/Passes.h"
#include "passes/tile/Progress.h"

#include "dialects/tile/Distribution.h"
#include "dialects/tile/units/Units.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace effc::tile;

namespace effc {
#define GEN_PASS_DEF_FETCHAHEADPASS
#include "passes/tile/Passes.h.inc"
} // namespace effc

using namespace effc;

namespace {

class Expansion {
public:
  explicit Expansion(PipelineOp pipeline)
      : pipeline(pipeline), b(pipeline), loc(pipeline.getLoc()),
        load(pipeline.getLoad().front()),
        compute(pipeline.getCompute().front()),
        loaded(load.getTerminator()->getOperands()),
        slots(std::min(pipeline.getStages(),
                       pipeline.getExtent() / pipeline.getStep())) {}

  bool applies() const;
  void run();

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  bool takesBoxes(LoadOp from) const;
  Value slotOf(Value turn) {
    return arith::RemUIOp::create(b, loc, turn, index(slots));
  }
  void makeRings();
  IRMapping mapIndices(Value at);
  void fetchBoxes(Value at, Value turn);
  void fetchGroup(Value at, Value turn);
  SmallVector<Value> await(Value turn);
  void commit();
  DotOp productBesideThreads();

  PipelineOp pipeline;
  OpBuilder b;
  Location loc;
  Block &load, &compute;
  ValueRange loaded;
  int64_t slots;
  struct Ring {
    RingOp op;
    bool takesBoxes; // and not fetches
  };
  SmallVector<Ring> rings; // of the loaded tiles
  bool anyFetches = false, anyBoxes = false;
};

} // namespace

bool Expansion::applies() const {
  if (slots < 2)
    return false;
  for (Operation &op : load.without_terminator())
    if (isa<LoadOp>(op) ? llvm::count(loaded, op.getResult(0)) != 1
                        : !isMemoryEffectFree(&op))
      return false; // a ring is filled by one load
  return llvm::all_of(llvm::enumerate(loaded), [&](auto item) {
    auto op = item.value().template getDefiningOp<LoadOp>();
    SharedAttr layout =
        cast<TileType>(item.value().getType()).getSharedLayout();
    bool products =
        llvm::all_of(compute.getArgument(item.index()).getUsers(),
                     [](Operation *user) { return isa<DotOp>(user); });
    return op && op->getBlock() == &load && layout && products &&
           op.getResult().getType().getElementType() ==
               op.getView().getType().getElementType();
  });
}

// Whether `limit` is null, or where the view ends: the smaller of `size` and
// `extent - at`. Past the view a box has zeros by itself.
static bool endsWithView(Value limit, Value at, int64_t extent, int64_t size) {
  if (!limit)
    return true;
  auto least = limit.getDefiningOp<arith::MinSIOp>();
  if (!least)
    return false;
  auto isNumber = [](Value value, int64_t expected) {
    APInt number;
    return matchPattern(value, m_ConstantInt(&number)) &&
           number.getSExtValue() == expected;
  };
  auto isRest = [&](Value value) {
    auto rest = value.getDefiningOp<arith::SubIOp>();
    return rest && rest.getRhs() == at && isNumber(rest.getLhs(), extent);
  };
  return (isRest(least.getLhs()) && isNumber(least.getRhs(), size)) ||
         (isRest(least.getRhs()) && isNumber(least.getLhs(), size));
}

// Turns are counted from 0 on each time, and so are the phases of mbarriers:
// the pipeline runs once.
bool Expansion::takesBoxes(LoadOp from) const {
  TileType type = from.getResult().getType();
  ViewType memory = from.getView().getType();
  auto view = dyn_cast<BlockArgument>(from.getView());
  return isa<KernelOp>(pipeline->getParentOp()) && view && isBoxOperand(view) &&
         type.getSharedLayout().takesBoxes() && isBoxCopied(memory) &&
         type.getShape() == from.getSizes() && type.rows() <= kMostBoxSize &&
         type.rows() % kSharedTile == 0 && !from.getColumns() &&
         endsWithView(from.getRows(), from.getIndices()[0],
                      memory.getShape()[0], type.rows());
}

void Expansion::makeRings() {
  for (Value tile : loaded) {
    auto type = cast<TileType>(tile.getType());
    SharedAttr layout = type.getSharedLayout();
    bool boxes = takesBoxes(tile.getDefiningOp<LoadOp>());
    (boxes ? anyBoxes : anyFetches) = true;
    rings.push_back({RingOp::create(b, tile.getLoc(),
                                    type.withLayout(layout.withSlots(slots)),
                                    /*arrivals=*/IntegerAttr()),
                     boxes});
  }
  if (anyBoxes)
    BarrierOp::create(b, loc);
}

// What the load region computes besides its loads, at `at`.
IRMapping Expansion::mapIndices(Value at) {
  IRMapping mapping;
  mapping.map(load.getArgument(0), at);
  for (Operation &op : load.without_terminator())
    if (!isa<LoadOp>(op))
      b.clone(op, mapping);
  return mapping;
}

static SmallVector<Value> mappedAll(ValueRange values,
                                    const IRMapping &mapping) {
  return llvm::map_to_vector(
      values, [&](Value value) { return mapping.lookupOrDefault(value); });
}

void Expansion::fetchBoxes(Value at, Value turn) {
  if (!anyBoxes)
    return;
  IRMapping mapping = mapIndices(at);
  for (auto [ring, tile] : llvm::zip_equal(rings, loaded)) {
    auto from = tile.getDefiningOp<LoadOp>();
    if (ring.takesBoxes)
      FetchBoxOp::create(b, from.getLoc(), from.getView(),
                         mappedAll(from.getIndices(), mapping), from.getSizes(),
                         ring.op, turn);
  }
}

void Expansion::fetchGroup(Value at, Value turn) {
  if (!anyFetches)
    return;
  IRMapping mapping = mapIndices(at);
  auto mapped = [&](Value value) {
    return value ? mapping.lookupOrDefault(value) : Value();
  };
  Value slot = slotOf(turn);
  for (auto [ring, tile] : llvm::zip_equal(rings, loaded)) {
    auto from = tile.getDefiningOp<LoadOp>();
    if (!ring.takesBoxes)
      FetchOp::create(b, from.getLoc(), from.getView(),
                      mappedAll(from.getIndices(), mapping),
                      mapped(from.getRows()), mapped(from.getColumns()),
                      b.getDenseI64ArrayAttr(from.getSizes()), ring.op, slot);
  }
}

SmallVector<Value> Expansion::await(Value turn) {
  SmallVector<Value> fetched, tiles;
  SmallVector<Type> types;
  for (auto [ring, tile] : llvm::zip_equal(rings, loaded))
    if (!ring.takesBoxes) {
      fetched.push_back(ring.op);
      types.push_back(tile.getType());
    }
  ValueRange arrived;
  if (anyFetches)
    arrived = AwaitOp::create(b, loc, types, fetched, slotOf(turn),
                              b.getI64IntegerAttr(slots - 2))
                  .getResults();
  for (auto [ring, tile] : llvm::zip_equal(rings, loaded)) {
    if (ring.takesBoxes) {
      tiles.push_back(
          AwaitBoxOp::create(b, loc, tile.getType(), ring.op, turn));
      continue;
    }
    tiles.push_back(arrived.front());
    arrived = arrived.drop_front();
  }
  return tiles;
}

void Expansion::commit() {
  if (anyFetches)
    CommitOp::create(b, loc);
}

// The last product of an iteration, if it runs beside the threads: they fetch
// meanwhile.
DotOp Expansion::productBesideThreads() {
  DotOp last;
  for (DotOp dot : compute.getOps<DotOp>())
    last = dot;
  return last && productUnitOf(last).isAsynchronous() ? last : DotOp();
}

void Expansion::run() {
  int64_t step = pipeline.getStep(), extent = pipeline.getExtent();
  makeRings();
  // Boxes come first: they need not wait for the launches before.
  for (int64_t i = 0; i + 1 < slots; ++i)
    fetchBoxes(index(i * step), index(i));
  for (int64_t i = 0; i + 1 < slots; ++i) {
    fetchGroup(index(i * step), index(i));
    commit();
  }
  auto loop = scf::ForOp::create(b, loc, index(0), index(extent), index(step),
                                 pipeline.getInits());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value at = loop.getInductionVar();
    Value turn = arith::DivUIOp::create(b, loc, at, index(step));
    SmallVector<Value> tiles = await(turn);
    BarrierOp::create(b, loc);
    Value ahead = arith::AddIOp::create(b, loc, at, index((slots - 1) * step));
    Value later = arith::AddIOp::create(b, loc, turn, index(slots - 1));
    Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, ahead,
                                       index(extent));
    auto fetch = [&] {
      auto taken = scf::IfOp::create(b, loc, more, /*withElseRegion=*/false);
      {
        OpBuilder::InsertionGuard inner(b);
        b.setInsertionPointToStart(taken.thenBlock());
        fetchBoxes(ahead, later);
        fetchGroup(ahead, later);
      }
      commit();
    };
    DotOp beside = productBesideThreads();
    if (!beside)
      fetch();
    IRMapping mapping;
    llvm::append_range(tiles, loop.getRegionIterArgs());
    mapping.map(compute.getArguments(), tiles);
    for (Operation &op : compute.without_terminator()) {
      b.clone(op, mapping);
      if (&op == beside.getOperation())
        fetch();
    }
    SmallVector<Value> next;
    for (Value value : compute.getTerminator()->getOperands())
      next.push_back(mapping.lookupOrDefault(value));
    scf::YieldOp::create(b, loc, next);
  }
  // In a loop around this one the next turn would fill slots that other warps
  // still read.
  if (!isa<KernelOp>(pipeline->getParentOp()))
    BarrierOp::create(b, loc);
  pipeline.replaceAllUsesWith(loop.getResults());
  pipeline.erase();
}

namespace {
struct FetchAheadPass : effc::impl::FetchAheadPassBase<FetchAheadPass> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    FailureOr<bool> due = isDue(kernel, getArgument(), Decided::Places);
    if (failed(due))
      return signalPassFailure();
    if (!*due)
      return;
    SmallVector<PipelineOp> pipelines;
    kernel.getBody().walk([&](PipelineOp op) { pipelines.push_back(op); });
    for (PipelineOp pipeline : pipelines)
      if (Expansion expansion(pipeline); expansion.applies())
        expansion.run();
  }
};
} // namespace
