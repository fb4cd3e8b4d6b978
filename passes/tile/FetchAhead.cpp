// Pipelines -> rings and asynchronous copies.
//
//   %y = tile.pipeline stages 3 extent 768 step 64 iter(%zero) load {L} compute
//   {C}
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
// awaited, and nobody reads the slot of the iteration before any more.
#include "passes/tile/FetchAhead.h"

#include "dialects/tile/Distribution.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace effc;
using namespace effc::tile;

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
  void makeRings();
  void fetch(Value at, Value slot);
  SmallVector<Value> await(Value slot);

  PipelineOp pipeline;
  OpBuilder b;
  Location loc;
  Block &load, &compute;
  ValueRange loaded;
  int64_t slots;
  SmallVector<Value> rings;
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
    auto layout = dyn_cast<SharedAttr>(
        cast<TileType>(item.value().getType()).getLayout());
    bool products =
        llvm::all_of(compute.getArgument(item.index()).getUsers(),
                     [](Operation *user) { return isa<DotOp>(user); });
    return op && op->getBlock() == &load && layout && products &&
           op.getResult().getType().getElementType() ==
               op.getView().getType().getElementType();
  });
}

void Expansion::makeRings() {
  for (Value tile : loaded) {
    auto type = cast<TileType>(tile.getType());
    auto layout = cast<SharedAttr>(type.getLayout());
    rings.push_back(RingOp::create(b, tile.getLoc(),
                                   type.withLayout(layout.withSlots(slots))));
  }
}

void Expansion::fetch(Value at, Value slot) {
  IRMapping mapping;
  mapping.map(load.getArgument(0), at);
  for (Operation &op : load.without_terminator()) {
    auto from = dyn_cast<LoadOp>(op);
    if (!from) {
      b.clone(op, mapping);
      continue;
    }
    auto mapped = [&](Value value) {
      return value ? mapping.lookupOrDefault(value) : Value();
    };
    SmallVector<Value> indices;
    for (Value index : from.getIndices())
      indices.push_back(mapped(index));
    size_t number = llvm::find(loaded, from.getResult()) - loaded.begin();
    FetchOp::create(b, from.getLoc(), from.getView(), indices,
                    mapped(from.getRows()), mapped(from.getColumns()),
                    b.getDenseI64ArrayAttr(from.getSizes()), rings[number],
                    slot);
  }
}

SmallVector<Value> Expansion::await(Value slot) {
  auto op = AwaitOp::create(b, loc, loaded.getTypes(), rings, slot,
                            b.getI64IntegerAttr(slots - 2));
  return SmallVector<Value>(op.getResults());
}

void Expansion::run() {
  int64_t step = pipeline.getStep(), extent = pipeline.getExtent();
  makeRings();
  for (int64_t i = 0; i + 1 < slots; ++i) {
    fetch(index(i * step), index(i));
    CommitOp::create(b, loc);
  }
  auto loop = scf::ForOp::create(b, loc, index(0), index(extent), index(step),
                                 pipeline.getInits());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value at = loop.getInductionVar();
    Value turn = arith::DivUIOp::create(b, loc, at, index(step));
    auto slotOf = [&](int64_t ahead) -> Value {
      Value number = arith::AddIOp::create(b, loc, turn, index(ahead));
      return arith::RemUIOp::create(b, loc, number, index(slots));
    };
    SmallVector<Value> tiles = await(slotOf(0));
    BarrierOp::create(b, loc);
    Value ahead = arith::AddIOp::create(b, loc, at, index((slots - 1) * step));
    Value slot = slotOf(slots - 1);
    Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, ahead,
                                       index(extent));
    auto taken = scf::IfOp::create(b, loc, more, /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard inner(b);
      b.setInsertionPointToStart(taken.thenBlock());
      fetch(ahead, slot);
    }
    CommitOp::create(b, loc);
    IRMapping mapping;
    llvm::append_range(tiles, loop.getRegionIterArgs());
    mapping.map(compute.getArguments(), tiles);
    for (Operation &op : compute.without_terminator())
      b.clone(op, mapping);
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

void effc::fetchAhead(KernelOp kernel) {
  SmallVector<PipelineOp> pipelines;
  kernel.getBody().walk([&](PipelineOp op) { pipelines.push_back(op); });
  for (PipelineOp pipeline : pipelines)
    if (Expansion expansion(pipeline); expansion.applies())
      expansion.run();
}
