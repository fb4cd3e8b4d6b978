// The walk over a kernel, its scalars and its loops.
#include "codegen/nvptx/ThreadLowering.h"

#include "dialects/plan/SegmentRecord.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

#include <utility>

using namespace mlir;
using namespace effc;
using namespace effc::nvptx;
using namespace effc::tile;

static constexpr unsigned kSharedSpace = 3;

ThreadLowering::ThreadLowering(KernelOp kernel, Block *entry, StringRef shared,
                               bool overlapsLaunches)
    : kernel(kernel), b(OpBuilder::atBlockEnd(entry)), loc(kernel.getLoc()),
      entry(entry), shared(shared), threads(kernel.getSchedule()->getThreads()),
      mustAwaitLaunches(overlapsLaunches) {}

Value ThreadLowering::constant(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}
Value ThreadLowering::i32(int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
}
Value ThreadLowering::f32(float value) {
  return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
}
Value ThreadLowering::add(Value x, Value y) {
  return arith::AddIOp::create(b, loc, x, y);
}
Value ThreadLowering::mul(Value x, int64_t y) {
  return y == 1 ? x : arith::MulIOp::create(b, loc, x, constant(y)).getResult();
}
Value ThreadLowering::less(Value x, Value y) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, x, y);
}
Value ThreadLowering::select(Value condition, Value x, Value y) {
  return condition
             ? arith::SelectOp::create(b, loc, condition, x, y).getResult()
             : x;
}
void ThreadLowering::barrier() { NVVM::Barrier0Op::create(b, loc); }

LogicalResult ThreadLowering::run() {
  auto index = [&](Value value) -> Value {
    return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), value);
  };
  thread = index(NVVM::ThreadIdXOp::create(b, loc, b.getI32Type()));
  scalars.map(kernel.getItem(),
              index(NVVM::BlockIdXOp::create(b, loc, b.getI32Type())));
  if (*kernel.getSchedule()->getSharedBytes() > 0)
    sharedMemory = LLVM::AddressOfOp::create(
        b, loc, LLVM::LLVMPointerType::get(b.getContext(), kSharedSpace),
        shared);
  for (auto [i, operand] : llvm::enumerate(kernel.getOperandArguments()))
    bases[operand] = entry->getArgument(i);
  SmallVector<BoxMapAttr> maps = boxMapsOf(kernel);
  for (auto [map, address] :
       llvm::zip_equal(maps, entry->getArguments().take_back(maps.size())))
    boxMaps[map] = address;
  if (mustAwaitLaunches)
    NVVM::GriddepcontrolOp::create(b, loc,
                                   NVVM::GridDepActionKind::launch_dependents);
  if (failed(lowerBlock(kernel.getBody().front())))
    return failure();
  awaitLaunches();
  return success();
}

/// Whether an op touches nothing that a launch before this one may still
/// write. Boxes are of operands that none writes; the table of segments, which
/// `tile.segment` reads without an effect, is copied before the call's first
/// launch begins, and that one overlaps nothing.
static bool needsNoLaunch(Operation &op) {
  return isa<RingOp, BarrierOp, FetchBoxOp>(op) || isMemoryEffectFree(&op);
}

// A launch is over when all its threads have waited for those before it, so
// that who waits for it has waited for all.
void ThreadLowering::awaitLaunches() {
  if (std::exchange(mustAwaitLaunches, false))
    NVVM::GriddepcontrolOp::create(b, loc, NVVM::GridDepActionKind::wait);
}

LogicalResult ThreadLowering::lowerBlock(Block &block) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      break;
    loc = NameLoc::get(op.getName().getIdentifier(), op.getLoc());
    if (!needsNoLaunch(op))
      awaitLaunches();
    if (failed(lower(op)))
      return failure();
  }
  return success();
}

LogicalResult ThreadLowering::lower(Operation &op) {
  StringRef dialect = op.getName().getDialectNamespace();
  if (dialect == "arith" || dialect == "math") {
    scalars.map(op.getResult(0), emitScalar(&op, scalars));
    return success();
  }
  if (auto count = dyn_cast<CountOp>(op)) {
    size_t counts = kernel.getOperandArguments().size();
    Value size =
        count.getCount() == Count::One
            ? arith::ConstantIntOp::create(b, loc, 1, 64).getResult()
            : entry->getArgument(counts + static_cast<int>(count.getCount()));
    scalars.map(
        count.getResult(),
        arith::IndexCastOp::create(b, loc, b.getIndexType(), size).getResult());
    return success();
  }
  if (auto splat = dyn_cast<SplatOp>(op)) {
    TileType type = splat.getResult().getType();
    tiles[splat.getResult()].assign(heldOf(type).count(),
                                    lookup(splat.getValue()));
    return success();
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return lowerFor(loop);
  if (auto pipeline = dyn_cast<PipelineOp>(op))
    return lowerPipeline(pipeline);
  if (auto branch = dyn_cast<scf::IfOp>(op); branch && !branch.elseBlock())
    return lowerIf(branch);
  bool hasLowering = true;
  llvm::TypeSwitch<Operation *>(&op)
      .Case([&](BarrierOp) { barrier(); })
      .Case([&](LoadOp load) { lowerLoad(load); })
      .Case([&](GatherRowsOp gather) { lowerGather(gather); })
      .Case([&](SpliceOp splice) { lowerSplice(splice); })
      .Case([&](StoreOp store) { lowerStore(store); })
      .Case([&](ReadOp read) { lowerRead(read); })
      .Case([&](SegmentOp segment) { lowerSegment(segment); })
      .Case([&](MapOp map) { lowerMap(map); })
      .Case([&](ReduceOp reduce) { lowerReduce(reduce); })
      .Case([&](ConvertOp convert) { lowerConvert(convert); })
      .Case([&](DotOp dot) { lowerDot(dot); })
      .Case([&](ScanOp scan) { lowerScan(scan); })
      .Case([&](SegmentDecayOp decay) { lowerSegmentDecay(decay); })
      .Case([&](ShiftOp shift) { lowerShift(shift); })
      .Case([&](TopKOp topK) { lowerTopK(topK); })
      .Case([&](TakeOp take) { lowerTake(take); })
      .Case([&](RingOp ring) { lowerRing(ring); })
      .Case([&](FetchOp fetch) { lowerFetch(fetch); })
      .Case([&](AwaitOp await) { lowerAwait(await); })
      .Case([&](CommitOp) { lowerCommit(); })
      .Case([&](FetchBoxOp fetch) { lowerFetchBox(fetch); })
      .Case([&](AwaitBoxOp await) { lowerAwaitBox(await); })
      .Default([&](Operation *) { hasLowering = false; });
  if (hasLowering)
    return success();
  return op.emitOpError("has no lowering to a GPU thread");
}

void ThreadLowering::lowerSegment(SegmentOp segment) {
  using Record = plan::SegmentRecord;
  Value base = bases.lookup(segment.getTable());
  Value record = arith::IndexCastOp::create(
      b, loc, b.getI64Type(), mul(lookup(segment.getIndex()), Record::kBytes));
  base = LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{record});
  auto field = [&](int32_t offset, Type type) -> Value {
    Value at = LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base,
                                   ArrayRef<LLVM::GEPArg>{offset});
    return LLVM::LoadOp::create(b, loc, type, at);
  };
  auto index = [&](int32_t offset, Type type) -> Value {
    return arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                      field(offset, type));
  };
  scalars.map(segment.getSlot(), index(Record::kSlot, b.getI32Type()));
  scalars.map(segment.getFirstRow(), index(Record::kFirstRow, b.getI32Type()));
  scalars.map(segment.getLength(), index(Record::kLength, b.getI32Type()));
  scalars.map(segment.getBegins(),
              arith::TruncIOp::create(b, loc, b.getI1Type(),
                                      field(Record::kFlags, b.getI32Type()))
                  .getResult());
  scalars.map(segment.getStart(), index(Record::kStart, b.getI64Type()));
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

// A loop carries the elements of its tiles, one value each.
LogicalResult ThreadLowering::lowerLoop(Value begin, Value end, Value step,
                                        ValueRange inits, ValueRange carried,
                                        ValueRange results,
                                        function_ref<LogicalResult(Value)> body,
                                        ValueRange yielded) {
  auto flatten = [&](ValueRange values) {
    SmallVector<Value> flat;
    for (Value value : values)
      if (isa<TileType>(value.getType()))
        llvm::append_range(flat, tiles[value]);
      else
        flat.push_back(lookup(value));
    return flat;
  };
  // Binds `targets` to values in the order in which `shapes` flatten.
  auto bind = [&](ValueRange targets, ValueRange shapes, ValueRange flat) {
    for (auto [target, shape] : llvm::zip_equal(targets, shapes)) {
      if (!isa<TileType>(target.getType())) {
        scalars.map(target, flat.front());
        flat = flat.drop_front();
        continue;
      }
      size_t count = tiles[shape].size();
      Elements elements(flat.take_front(count));
      tiles[target] = elements;
      flat = flat.drop_front(count);
    }
  };
  Location here = loc;
  auto loop = scf::ForOp::create(b, loc, begin, end, step, flatten(inits));
  bind(carried, inits, loop.getRegionIterArgs());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    if (failed(body(loop.getInductionVar())))
      return failure();
    loc = here;
    // The builder closes a loop that carries nothing by itself.
    if (!inits.empty()) {
      b.setInsertionPointToEnd(loop.getBody());
      scf::YieldOp::create(b, loc, flatten(yielded));
    }
  }
  loc = here;
  bind(results, inits, loop.getResults());
  return success();
}

LogicalResult ThreadLowering::lowerIf(scf::IfOp branch) {
  auto taken = scf::IfOp::create(b, loc, lookup(branch.getCondition()),
                                 /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(taken.thenBlock());
  return lowerBlock(*branch.thenBlock());
}

LogicalResult ThreadLowering::lowerFor(scf::ForOp loop) {
  return lowerLoop(
      lookup(loop.getLowerBound()), lookup(loop.getUpperBound()),
      lookup(loop.getStep()), loop.getInitArgs(), loop.getRegionIterArgs(),
      loop.getResults(),
      [&](Value at) {
        scalars.map(loop.getInductionVar(), at);
        return lowerBlock(*loop.getBody());
      },
      loop.getYieldedValues());
}

LogicalResult ThreadLowering::lowerPipeline(PipelineOp pipeline) {
  Block &load = pipeline.getLoad().front(),
        &compute = pipeline.getCompute().front();
  ValueRange loaded = load.getTerminator()->getOperands();
  return lowerLoop(
      constant(0), constant(pipeline.getExtent()), constant(pipeline.getStep()),
      pipeline.getInits(), compute.getArguments().drop_front(loaded.size()),
      pipeline.getResults(),
      [&](Value at) {
        scalars.map(load.getArgument(0), at);
        if (failed(lowerBlock(load)))
          return failure();
        for (auto [argument, tile] :
             llvm::zip(compute.getArguments(), loaded)) {
          Elements elements = tiles.lookup(tile);
          tiles[argument] = elements;
        }
        return lowerBlock(compute);
      },
      compute.getTerminator()->getOperands());
}
