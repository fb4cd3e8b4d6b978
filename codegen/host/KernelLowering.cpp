// The walk over a kernel, its memory and its loops.
#include "codegen/host/KernelLowering.h"

#include "dialects/plan/SegmentRecord.h"
#include "dialects/tile/BoxAxes.h"
#include "dialects/tile/Divisors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;
using namespace effc;
using namespace effc::host;
using namespace effc::tile;

KernelLowering::KernelLowering(KernelOp kernel, Block *entry)
    : kernel(kernel), b(OpBuilder::atBlockEnd(entry)), loc(kernel.getLoc()),
      entry(entry), memory(b, loc, VectorShape::of(kernel)) {}

LogicalResult KernelLowering::run() {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value operands = entry->getArgument(0);
  for (auto [index, operand] : llvm::enumerate(kernel.getOperandArguments())) {
    Value at = LLVM::GEPOp::create(
        b, loc, pointer, pointer, operands,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
    bases[operand] = LLVM::LoadOp::create(b, loc, pointer, at);
  }
  auto asIndex = [&](Value value) -> Value {
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
  };
  Value first = asIndex(entry->getArgument(2)),
        end = asIndex(entry->getArgument(3));
  auto items = scf::ForOp::create(b, loc, first, end, memory.constant(1));
  scalars.map(kernel.getItem(), items.getInductionVar());
  b.setInsertionPointToStart(items.getBody());
  if (failed(lowerBlock(kernel.getBody().front())))
    return failure();
  b.setInsertionPointAfter(items);
  return success();
}

LogicalResult KernelLowering::lowerBlock(Block &block) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      break;
    if (isElementwise(&op)) {
      join(&op);
    } else if (failed(lowerOp(&op))) {
      return failure();
    }
  }
  flush();
  return success();
}

// Whether `op` reads, directly, a value that the pending group computes.
static bool reads(Operation *op, ArrayRef<Operation *> pending) {
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return llvm::is_contained(pending, operand.getDefiningOp());
  });
}

LogicalResult KernelLowering::lowerOp(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  bool scalar =
      dialect == "arith" || dialect == "math" ||
      isa<CountOp, SegmentOp, ReadOp, LoadOp, GatherRowsOp, SplatOp>(op);
  auto load = dyn_cast<LoadOp>(op);
  SmallVector<Operation *> pending = group.ops();
  bool loadsPending = load && llvm::any_of(pending, [&](Operation *member) {
                        auto store = dyn_cast<StoreOp>(member);
                        return store && store.getView() == load.getView();
                      });
  bool pendingStores =
      llvm::any_of(pending, [](Operation *o) { return isa<StoreOp>(o); });
  if (!scalar || reads(op, pending) || loadsPending ||
      (isa<ReadOp>(op) && pendingStores))
    flush();
  if (auto splat = dyn_cast<SplatOp>(op)) {
    splats[splat] = lookup(splat.getValue());
    return success();
  }
  if (auto count = dyn_cast<CountOp>(op)) {
    Value at = LLVM::GEPOp::create(
        b, loc, entry->getArgument(1).getType(), b.getI64Type(),
        entry->getArgument(1),
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(count.getCount())});
    Value value = LLVM::LoadOp::create(b, loc, b.getI64Type(), at);
    scalars.map(count.getResult(),
                arith::IndexCastOp::create(b, loc, b.getIndexType(), value)
                    .getResult());
    return success();
  }
  if (dialect == "arith" || dialect == "math") {
    b.clone(*op, scalars);
    return success();
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return lowerFor(loop);
  if (auto pipeline = dyn_cast<PipelineOp>(op))
    return lowerPipeline(pipeline);
  if (auto dot = dyn_cast<DotOp>(op); dot && dot.getRoundedTo())
    return lowerPanelDot(dot);
  bool hasLowering = true;
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](LoadOp load) { lowerLoad(load); })
      .Case([&](GatherRowsOp gather) { lowerGather(gather); })
      .Case([&](ShiftOp shift) { lowerShift(shift); })
      .Case([&](TopKOp topK) { emitTopK(topK); })
      .Case([&](TakeOp take) { emitTake(take); })
      .Case([&](StoreOp store) { lowerScatter(store); })
      .Case([&](ReadOp read) { lowerRead(read); })
      .Case([&](SegmentOp segment) { lowerSegment(segment); })
      .Case([&](DotOp dot) { emitDot(dot); })
      .Case([&](SpliceOp splice) { emitSplice(splice); })
      .Case([&](ScanOp scan) { emitScan(scan); })
      .Case([&](SegmentDecayOp decay) { emitSegmentDecay(decay); })
      .Default([&](Operation *) { hasLowering = false; });
  if (hasLowering)
    return success();
  return op->emitOpError("has no lowering to the host");
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value KernelLowering::allocateBytes(int64_t bytes) {
  stackUsed += (bytes + 63) / 64 * 64;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(entry);
  Value count = LLVM::ConstantOp::create(b, loc, b.getI64Type(),
                                         b.getI64IntegerAttr(bytes));
  return LLVM::AllocaOp::create(b, loc,
                                LLVM::LLVMPointerType::get(b.getContext()),
                                b.getI8Type(), count, /*alignment=*/64);
}

Place KernelLowering::allocate(TileType type) {
  bool column = type.getRole() == Role::Column;
  int64_t rowStride = column ? 1 : memory.shape.padded(type.columns());
  int64_t elements =
      column ? memory.shape.padded(type.rows()) : type.rows() * rowStride;
  Place place;
  place.first.address = allocateBytes(elements * 4);
  place.element = b.getF32Type();
  place.rowStride = rowStride;
  place.padded = true;
  return place;
}

Place KernelLowering::placeOf(Value tile) {
  if (auto found = places.find(tile); found != places.end())
    return found->second;
  auto type = cast<TileType>(tile.getType());
  Place place = allocate(type);
  if (auto splat = splats.find(tile); splat != splats.end())
    fill(place, type, splat->second);
  places[tile] = place;
  return place;
}

// Of a panel an element is a row and a place in it.
stored::ElementPlace KernelLowering::elementAt(Value view, ValueRange indices,
                                               Type element) {
  ArrayRef<int64_t> strides = cast<ViewType>(view.getType()).getStrides();
  bool isPanel = isa<storage::PanelType>(element);
  int64_t rowElements = isPanel ? strides.drop_back().back() : 0;
  Value offset = memory.constant(0), row = offset;
  int64_t divisor = 0;
  for (auto [axis, index, stride] : llvm::enumerate(indices, strides)) {
    bool alongRows = isPanel && axis + 1 < strides.size();
    Value scaled = arith::MulIOp::create(
        b, loc, lookup(index),
        memory.constant(alongRows ? stride / rowElements : stride));
    Value &sum = alongRows ? row : offset;
    sum = arith::AddIOp::create(b, loc, sum, scaled);
    if (!alongRows)
      divisor = std::gcd(divisor, divisorOf(index) * stride);
  }
  Value base = bases.lookup(view);
  stored::ElementPlace first =
      isPanel ? stored::panelRow(b, loc, base, element, row, rowElements)
              : stored::firstPlace(b, loc, base, element);
  return stored::further(b, loc, first, element, offset, divisor);
}

Place KernelLowering::windowOf(Value view, ValueRange indices,
                               ArrayRef<int64_t> sizes, TileType tile,
                               Value rows, Value columns) {
  auto type = cast<ViewType>(view.getType());
  BoxAxes axes = axesOf(sizes, tile);
  Place place;
  // An i32 is only moved, as the bits of an f32.
  place.element = type.getElementType().isInteger(32) ? b.getF32Type()
                                                      : type.getElementType();
  place.first = elementAt(view, indices, place.element);
  place.rowStride = BoxAxes::stride(type, axes.row);
  place.validRows = rows ? lookup(rows) : Value();
  place.validColumns = columns ? lookup(columns) : Value();
  return place;
}

void KernelLowering::lowerLoad(LoadOp load) {
  TileType tile = load.getResult().getType();
  Place window = windowOf(load.getView(), load.getIndices(), load.getSizes(),
                          tile, load.getRows(), load.getColumns());
  window.fetchNext = load.getFetchNext();
  if (tile.getRole() != Role::Column ||
      (window.rowStride == 1 && !window.validRows)) {
    places[load.getResult()] = window;
    return;
  }
  // A column whose elements lie apart is gathered, so that vectors can run
  // along it.
  Place gathered = allocate(tile);
  auto loop =
      scf::ForOp::create(b, loc, memory.constant(0),
                         memory.constant(tile.rows()), memory.constant(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value zero = memory.constant(0), row = loop.getInductionVar();
  memory.storeScalar(gathered, row, zero, memory.loadScalar(window, row, zero));
  places[load.getResult()] = gathered;
}

// A window like that of a load, but for its rows, which are looked up.
void KernelLowering::lowerGather(GatherRowsOp gather) {
  ViewType view = gather.getView().getType();
  auto offsetOf = [&](Value index) -> Value {
    return arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
  };
  Place window;
  window.element = view.getElementType();
  window.rowStride = view.getStrides()[0];
  Value base = bases.lookup(gather.getView());
  stored::ElementPlace row =
      isa<storage::PanelType>(window.element)
          ? stored::panelRow(b, loc, base, window.element, memory.constant(0),
                             window.rowStride)
          : stored::firstPlace(b, loc, base, window.element);
  window.first =
      stored::further(b, loc, row, window.element, lookup(gather.getColumn()),
                      divisorOf(gather.getColumn()));
  window.validRows = gather.getRows() ? lookup(gather.getRows()) : Value();
  window.validColumns =
      gather.getColumns() ? lookup(gather.getColumns()) : Value();
  Value first = memory.constant(0);
  for (auto [index, stride] : llvm::zip_equal(
           gather.getIndices(), gather.getNumbers().getType().getStrides()))
    first = arith::AddIOp::create(
        b, loc, first,
        arith::MulIOp::create(b, loc, lookup(index), memory.constant(stride)));
  Value numbers = bases.lookup(gather.getNumbers());
  window.rowNumbers =
      LLVM::GEPOp::create(b, loc, numbers.getType(), b.getI32Type(), numbers,
                          ArrayRef<LLVM::GEPArg>{offsetOf(first)});
  places[gather.getResult()] = window;
}

// The tile's place some columns further on, where columns that it lacks read as
// 0: no element is moved. What may be written over is copied first: a view that
// the kernel writes, and a tile that was computed, which a loop may carry.
void KernelLowering::lowerShift(ShiftOp shift) {
  TileType type = shift.getTile().getType();
  Place place = placeOf(shift.getTile());
  auto load = shift.getTile().getDefiningOp<LoadOp>();
  auto view = load ? dyn_cast<BlockArgument>(load.getView()) : BlockArgument();
  if (!view || place.first.number ||
      llvm::is_contained(kernel.getWrites(), view.getArgNumber() - 1)) {
    place = allocate(type);
    copy(shift.getTile(), type, place);
  }
  int64_t by = shift.getBy();
  place.first = memory.further(place.first, place.element, memory.constant(by));
  place.firstColumn = std::max<int64_t>(0, place.firstColumn - by);
  Value end =
      place.validColumns ? place.validColumns : memory.constant(type.columns());
  place.validColumns = memory.add(end, -by);
  place.padded = false;
  places[shift.getResult()] = place;
}

// A column whose elements lie apart in memory, or of which only some are
// inside.
void KernelLowering::lowerScatter(StoreOp store) {
  keepWindowsBefore(store);
  TileType tile = store.getTile().getType();
  Place source = placeOf(store.getTile());
  Place target = windowOf(store.getView(), store.getIndices(), store.getSizes(),
                          tile, store.getRows(), store.getColumns());
  Value end = memory.constant(tile.rows());
  if (target.validRows)
    end = arith::MinSIOp::create(b, loc, end, target.validRows);
  auto loop =
      scf::ForOp::create(b, loc, memory.constant(0), end, memory.constant(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value zero = memory.constant(0), row = loop.getInductionVar();
  memory.storeScalar(target, row, zero, memory.loadScalar(source, row, zero));
}

void KernelLowering::lowerRead(ReadOp read) {
  ViewType type = read.getView().getType();
  Place place;
  place.element = type.getElementType();
  place.first = elementAt(read.getView(), read.getIndices(), place.element);
  if (!type.getElementType().isInteger()) {
    Value zero = memory.constant(0);
    scalars.map(read.getResult(), memory.loadScalar(place, zero, zero));
    return;
  }
  Value value =
      LLVM::LoadOp::create(b, loc, type.getElementType(), place.first.address);
  scalars.map(
      read.getResult(),
      arith::IndexCastOp::create(b, loc, b.getIndexType(), value).getResult());
}

void KernelLowering::lowerSegment(SegmentOp segment) {
  using Record = plan::SegmentRecord;
  Value record = arith::MulIOp::create(b, loc, lookup(segment.getIndex()),
                                       memory.constant(Record::kBytes));
  record = arith::IndexCastOp::create(b, loc, b.getI64Type(), record);
  Value table = bases.lookup(segment.getTable());
  Value base = LLVM::GEPOp::create(b, loc, table.getType(), b.getI8Type(),
                                   table, ArrayRef<LLVM::GEPArg>{record});
  auto field = [&](int32_t offset, Type type) -> Value {
    Value at = LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base,
                                   ArrayRef<LLVM::GEPArg>{offset});
    return LLVM::LoadOp::create(b, loc, type, at);
  };
  auto index = [&](int32_t offset, Type type) -> Value {
    return arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                      field(offset, type));
  };
  Type i32 = b.getI32Type();
  scalars.map(segment.getSlot(), index(Record::kSlot, i32));
  scalars.map(segment.getFirstRow(), index(Record::kFirstRow, i32));
  scalars.map(segment.getLength(), index(Record::kLength, i32));
  scalars.map(
      segment.getBegins(),
      arith::TruncIOp::create(b, loc, b.getI1Type(), field(Record::kFlags, i32))
          .getResult());
  scalars.map(segment.getStart(), index(Record::kStart, b.getI64Type()));
}

void KernelLowering::copy(Value from, TileType type, const Place &to) {
  if (auto splat = splats.find(from); splat != splats.end())
    return fill(to, type, splat->second);
  Place source = placeOf(from);
  if (source.first.address == to.first.address)
    return;
  bool column = type.getRole() == Role::Column;
  ColumnBlocks blocks =
      ColumnBlocks::cut(column ? type.rows() : type.columns(), memory.shape);
  Value zero = memory.constant(0);
  auto row = [&](Value row) {
    auto block = [&](Value column, int64_t lanes, int64_t valid) {
      memory.store(to, row, column,
                   memory.load(source, row, column, lanes, valid), valid);
    };
    if (blocks.mainCount > 0) {
      auto loop = scf::ForOp::create(
          b, loc, zero, memory.constant(blocks.mainCount * blocks.mainLanes),
          memory.constant(blocks.mainLanes));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      block(loop.getInductionVar(), blocks.mainLanes, blocks.mainLanes);
    }
    for (const ColumnBlock &rest : blocks.rest)
      block(memory.constant(rest.start), rest.lanes, rest.valid);
  };
  if (column || type.rows() == 1)
    return row(zero);
  auto loop = scf::ForOp::create(b, loc, zero, memory.constant(type.rows()),
                                 memory.constant(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  row(loop.getInductionVar());
}

void KernelLowering::fill(const Place &to, TileType type, Value scalar) {
  bool column = type.getRole() == Role::Column;
  const int64_t lanes = memory.shape.lanes;
  int64_t columns = memory.shape.padded(column ? type.rows() : type.columns());
  auto row = [&](Value row) {
    for (int64_t j = 0; j < columns; j += lanes)
      memory.store(to, row, memory.constant(j), memory.broadcast(scalar, lanes),
                   lanes);
  };
  if (column || type.rows() == 1)
    return row(memory.constant(0));
  auto loop =
      scf::ForOp::create(b, loc, memory.constant(0),
                         memory.constant(type.rows()), memory.constant(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  row(loop.getInductionVar());
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

// Lets a map that replaces a carried tile write over it, and those that lead to
// it by way of tiles of its type: each element is read before it is written,
// provided that nothing reads the old tile, or the one before, later.
void KernelLowering::bindInPlaceResults(Block &body, ValueRange yielded,
                                        ValueRange carried) {
  auto mapOf = [&](Value tile) {
    auto map = tile.getDefiningOp<MapOp>();
    return map && map->getBlock() == &body ? map : MapOp();
  };
  auto readAfter = [&](Value tile, MapOp map) {
    return llvm::any_of(tile.getUsers(), [&](Operation *user) {
      return user->getBlock() != &body || map->isBeforeInBlock(user);
    });
  };
  for (auto [next, old] : llvm::zip_equal(yielded, carried)) {
    MapOp map = mapOf(next);
    if (!map || !isa<TileType>(next.getType()) ||
        llvm::count(yielded, next) != 1 || readAfter(old, map))
      continue;
    Place place = places.lookup(old);
    places[next] = place;
    Type type = next.getType();
    while (true) {
      auto inputs = map.getInputs();
      auto found = llvm::find_if(
          inputs, [&](Value input) { return input.getType() == type; });
      MapOp before = found == inputs.end() ? MapOp() : mapOf(*found);
      if (!before || readAfter(*found, map) || readAfter(old, before))
        break;
      places[*found] = place;
      map = before;
    }
  }
}

// Writes the yielded tiles into the carried ones. A value that itself is a
// carried tile overwritten earlier in the list is saved first.
void KernelLowering::assignCarried(ValueRange yielded, ValueRange carried) {
  SmallVector<Value> sources(yielded);
  for (size_t i = 0; i < sources.size(); ++i) {
    auto type = dyn_cast<TileType>(sources[i].getType());
    if (!type || splats.count(sources[i]))
      continue;
    Value base = placeOf(sources[i]).first.address;
    for (size_t j = 0; j < i; ++j)
      if (isa<TileType>(carried[j].getType()) &&
          places.lookup(carried[j]).first.address == base &&
          sources[j] != carried[j]) {
        Place saved = allocate(type);
        copy(sources[i], type, saved);
        places[sources[i]] = saved;
        break;
      }
  }
  for (auto [source, target] : llvm::zip_equal(sources, carried))
    if (auto type = dyn_cast<TileType>(target.getType()))
      copy(source, type, places.lookup(target));
}

LogicalResult KernelLowering::lowerFor(scf::ForOp loop) {
  keepWindowsBeforeLoop(loop);
  SmallVector<Value> scalarInits;
  for (auto [init, carried] :
       llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs())) {
    auto type = dyn_cast<TileType>(init.getType());
    if (!type) {
      scalarInits.push_back(lookup(init));
      continue;
    }
    // What a loop before has left, and nothing else sees, is worked on; around
    // both of them a loop would come to it again.
    auto before = init.getDefiningOp<scf::ForOp>();
    bool goesOn =
        before && before->getBlock() == loop->getBlock() && init.hasOneUse();
    Place place = goesOn ? placeOf(init) : allocate(type);
    copy(init, type, place);
    places[carried] = place;
  }
  auto lowered = scf::ForOp::create(b, loc, lookup(loop.getLowerBound()),
                                    lookup(loop.getUpperBound()),
                                    lookup(loop.getStep()), scalarInits);
  scalars.map(loop.getInductionVar(), lowered.getInductionVar());
  unsigned next = 0;
  for (auto [carried, result] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults())) {
    if (isa<TileType>(result.getType())) {
      places[result] = places.lookup(carried);
      continue;
    }
    scalars.map(carried, lowered.getRegionIterArg(next));
    scalars.map(result, lowered.getResult(next++));
  }
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(lowered.getBody());
  ValueRange yielded = loop.getBody()->getTerminator()->getOperands();
  bindInPlaceResults(*loop.getBody(), yielded, loop.getRegionIterArgs());
  if (failed(lowerBlock(*loop.getBody())))
    return failure();
  assignCarried(yielded, loop.getRegionIterArgs());
  SmallVector<Value> scalarYields;
  for (Value value : yielded)
    if (!isa<TileType>(value.getType()))
      scalarYields.push_back(lookup(value));
  // The builder closes a loop without carried scalars by itself.
  if (!scalarYields.empty()) {
    b.setInsertionPointToEnd(lowered.getBody());
    scf::YieldOp::create(b, loc, scalarYields);
  }
  return success();
}

// On the host a load region costs nothing (its tiles are windows), so its ops
// simply precede the compute region's.
LogicalResult KernelLowering::lowerPipeline(PipelineOp pipeline) {
  Block &load = pipeline.getLoad().front(),
        &compute = pipeline.getCompute().front();
  ValueRange loaded = load.getTerminator()->getOperands();
  ValueRange yielded = compute.getTerminator()->getOperands();
  auto loadedArguments = compute.getArguments().take_front(loaded.size());
  auto carried = compute.getArguments().drop_front(loaded.size());
  auto body = [&](Value k) -> LogicalResult {
    scalars.map(load.getArgument(0), k);
    if (failed(lowerBlock(load)))
      return failure();
    for (auto [argument, tile] : llvm::zip_equal(loadedArguments, loaded))
      places[argument] = placeOf(tile);
    return lowerBlock(compute);
  };
  keepWindowsBeforeLoop(pipeline);
  int64_t extent = pipeline.getExtent(), step = pipeline.getStep();
  if (extent == step) { // a single iteration: no copies, no loop
    for (auto [argument, init] :
         llvm::zip_equal(carried, pipeline.getInits())) {
      if (Value splat = splats.lookup(init))
        splats[argument] = splat;
      else
        places[argument] = placeOf(init);
    }
    if (failed(body(memory.constant(0))))
      return failure();
    for (auto [result, value] : llvm::zip_equal(pipeline.getResults(), yielded))
      places[result] = placeOf(value);
    return success();
  }
  for (auto [argument, init] : llvm::zip_equal(carried, pipeline.getInits())) {
    auto type = cast<TileType>(init.getType());
    Place place = allocate(type);
    copy(init, type, place);
    places[argument] = place;
  }
  auto loop =
      scf::ForOp::create(b, loc, memory.constant(0), memory.constant(extent),
                         memory.constant(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  if (failed(body(loop.getInductionVar())))
    return failure();
  assignCarried(yielded, carried);
  for (auto [result, argument] :
       llvm::zip_equal(pipeline.getResults(), carried))
    places[result] = places.lookup(argument);
  return success();
}
