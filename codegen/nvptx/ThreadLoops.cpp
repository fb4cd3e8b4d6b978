// The walk over a kernel and its loops.
#include "codegen/nvptx/Lowerings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

#include <utility>

using namespace mlir;
using namespace effc::tile;

namespace effc::nvptx {

/// Whether an op touches nothing that a launch before this one may still
/// write. Boxes are of operands that none writes; the table of segments, which
/// `tile.segment` reads without an effect, is copied before the call's first
/// launch begins, and that one overlaps nothing.
static bool needsNoLaunch(Operation &op) {
  return isa<RingOp, BarrierOp, FetchBoxOp>(op) || isMemoryEffectFree(&op);
}

// A launch is over when all its threads have waited for those before it, so
// that who waits for it has waited for all.
static void awaitLaunches(ThreadState &t) {
  if (std::exchange(t.mustAwaitLaunches, false))
    NVVM::GriddepcontrolOp::create(t.b, NVVM::GridDepActionKind::wait);
}

/// Whether an op may run while a product does: what copies to slots that it does
/// not read, and arithmetic of places.
static bool runsBesideProducts(Operation &op) {
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return llvm::all_of(*branch.thenBlock(), [](Operation &inner) {
      return isa<scf::YieldOp>(inner) || runsBesideProducts(inner);
    });
  auto isTile = [](Value value) { return isa<TileType>(value.getType()); };
  return op.hasTrait<StartsCopy>() || isa<CommitOp>(op) ||
         (isMemoryEffectFree(&op) && op.getNumRegions() == 0 &&
          llvm::none_of(op.getOperands(), isTile) &&
          llvm::none_of(op.getResults(), isTile));
}

static void finishProduct(Block &block, ThreadState &t) {
  if (t.underWay.block == &block && t.underWay.finish)
    std::exchange(t.underWay.finish, nullptr)();
}

LogicalResult lowerBlock(Block &block, ThreadState &t) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      break;
    if (!runsBesideProducts(op))
      finishProduct(block, t);
    t.b.setLoc(NameLoc::get(op.getName().getIdentifier(), op.getLoc()));
    if (!needsNoLaunch(op))
      awaitLaunches(t);
    if (failed(lowerOp(op, t)))
      return failure();
  }
  finishProduct(block, t);
  return success();
}

// A loop carries the elements of its tiles, one value each.
static LogicalResult lowerLoop(ThreadState &t, Value begin, Value end,
                               Value step, ValueRange inits, ValueRange carried,
                               ValueRange results,
                               function_ref<LogicalResult(Value)> body,
                               ValueRange yielded) {
  auto flatten = [&](ValueRange values) {
    SmallVector<Value> flat;
    for (Value value : values)
      if (isa<TileType>(value.getType()))
        llvm::append_range(flat, t.tiles[value]);
      else
        flat.push_back(t.lookup(value));
    return flat;
  };
  // Binds `targets` to values in the order in which `shapes` flatten.
  auto bind = [&](ValueRange targets, ValueRange shapes, ValueRange flat) {
    for (auto [target, shape] : llvm::zip_equal(targets, shapes)) {
      if (!isa<TileType>(target.getType())) {
        t.scalars.map(target, flat.front());
        flat = flat.drop_front();
        continue;
      }
      size_t count = t.tiles[shape].size();
      Elements elements(flat.take_front(count));
      t.tiles[target] = elements;
      flat = flat.drop_front(count);
    }
  };
  Location here = t.loc();
  auto loop = scf::ForOp::create(t.b, begin, end, step, flatten(inits));
  bind(carried, inits, loop.getRegionIterArgs());
  {
    OpBuilder::InsertionGuard guard(t.b);
    t.b.setInsertionPointToStart(loop.getBody());
    if (failed(body(loop.getInductionVar())))
      return failure();
    t.b.setLoc(here);
    // The builder closes a loop that carries nothing by itself.
    if (!inits.empty()) {
      t.b.setInsertionPointToEnd(loop.getBody());
      scf::YieldOp::create(t.b, flatten(yielded));
    }
  }
  t.b.setLoc(here);
  bind(results, inits, loop.getResults());
  return success();
}

LogicalResult lower(scf::IfOp branch, ThreadState &t) {
  if (branch.elseBlock())
    return branch.emitOpError(
        "with an else region has no lowering to a GPU thread");
  auto taken = scf::IfOp::create(t.b, t.lookup(branch.getCondition()),
                                 /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(t.b);
  t.b.setInsertionPointToStart(taken.thenBlock());
  return lowerBlock(*branch.thenBlock(), t);
}

LogicalResult lower(scf::ForOp loop, ThreadState &t) {
  return lowerLoop(
      t, t.lookup(loop.getLowerBound()), t.lookup(loop.getUpperBound()),
      t.lookup(loop.getStep()), loop.getInitArgs(), loop.getRegionIterArgs(),
      loop.getResults(),
      [&](Value at) {
        t.scalars.map(loop.getInductionVar(), at);
        return lowerBlock(*loop.getBody(), t);
      },
      loop.getYieldedValues());
}

LogicalResult lower(PipelineOp pipeline, ThreadState &t) {
  Block &load = pipeline.getLoad().front(),
        &compute = pipeline.getCompute().front();
  ValueRange loaded = load.getTerminator()->getOperands();
  return lowerLoop(
      t, t.constant(0), t.constant(pipeline.getExtent()),
      t.constant(pipeline.getStep()), pipeline.getInits(),
      compute.getArguments().drop_front(loaded.size()), pipeline.getResults(),
      [&](Value at) {
        t.scalars.map(load.getArgument(0), at);
        if (failed(lowerBlock(load, t)))
          return failure();
        for (auto [argument, tile] :
             llvm::zip(compute.getArguments(), loaded)) {
          Elements elements = t.tiles.lookup(tile);
          t.tiles[argument] = elements;
        }
        return lowerBlock(compute, t);
      },
      compute.getTerminator()->getOperands());
}

LogicalResult lowerKernel(ThreadState &t) {
  if (t.mustAwaitLaunches)
    NVVM::GriddepcontrolOp::create(t.b,
                                   NVVM::GridDepActionKind::launch_dependents);
  if (failed(lowerBlock(t.kernel.getBody().front(), t)))
    return failure();
  awaitLaunches(t);
  return success();
}

} // namespace effc::nvptx
