// Groups of maps, stores and reductions that share one loop nest.
//
// A group over M x N elements runs by columns: for each run of columns, for
// each row, so that sums over rows stay in registers. Where there are sums over
// columns, or over all, it runs by rows: for each row, for each run of columns.
// Its ops are evaluated at each point in program order.
//
// By columns it may take several passes over rows, or a row alone: what needs a
// sum over all rows follows it in the same run of columns, and the sum stays in
// registers. A value that is used beyond the group is written to its buffer,
// and one with rows that a later pass uses; all others live in registers.
#include "codegen/host/KernelLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace effc;
using namespace effc::host;
using namespace effc::tile;

bool KernelLowering::isElementwise(Operation *op) {
  auto store = dyn_cast<StoreOp>(op);
  if (!store || store.getTile().getType().getRole() != Role::Column)
    return isa<MapOp, StoreOp, ReduceOp>(op);
  // Vectors run along a column only where its elements are neighbours.
  for (auto [size, stride] : llvm::zip_equal(
           store.getSizes(), store.getView().getType().getStrides()))
    if (size != 1)
      return stride == 1 && !store.getRows();
  return true;
}

static TileType iteratedType(Operation *op) {
  if (auto map = dyn_cast<MapOp>(op))
    return map.getResult().getType();
  if (auto store = dyn_cast<StoreOp>(op))
    return store.getTile().getType();
  return cast<ReduceOp>(op).getTile().getType();
}

KernelLowering::Group KernelLowering::shapeOf(Operation *op) {
  TileType type = iteratedType(op);
  bool column = type.getRole() == Role::Column;
  return {{{{op}, column ? 1 : type.rows()}},
          column ? type.rows() : type.columns(),
          column};
}

// A reduction that must be finished row by row, before the next row begins.
static bool alongColumns(ReduceOp reduce) {
  return !reduce.getOverRows() || !reduce.getTile().getType().isBlock();
}

// Whether `op`, or a region of it, uses `value`.
static bool uses(Operation *op, Value value) {
  return llvm::any_of(value.getUsers(),
                      [&](Operation *user) { return op->isAncestor(user); });
}

bool KernelLowering::canJoinPass(Operation *op) const {
  Group shape = shapeOf(op);
  const Pass &last = group.passes.back();
  if (shape.passes[0].rows != last.rows || shape.columns != group.columns ||
      shape.isColumn != group.isColumn)
    return false;
  auto reduce = dyn_cast<ReduceOp>(op);
  // Columns that share nothing, as the gates of two tokens, would only share
  // registers.
  if (shape.isColumn && llvm::none_of(last.ops, [&](Operation *member) {
        return llvm::any_of(op->getOperands(), [&](Value operand) {
          return isa<TileType>(operand.getType()) &&
                 (operand.getDefiningOp() == member || uses(member, operand));
        });
      }))
    return false;
  for (Operation *member : last.ops) {
    auto other = dyn_cast<ReduceOp>(member);
    if (!other)
      continue;
    if (uses(op, other.getResult()))
      return false;
    if (reduce && alongColumns(reduce) != alongColumns(other))
      return false;
  }
  // By rows there is one pass.
  return group.passes.size() == 1 || !reduce || !alongColumns(reduce);
}

// Whether an element that a store writes is, to whoever reads the tile, the one
// at the same point.
static bool sameWindow(StoreOp store, Operation *reader) {
  auto load = dyn_cast<LoadOp>(reader); // rows that are gathered lie anywhere
  return load && store.getIndices() == load.getIndices() &&
         store.getSizes() == load.getSizes() &&
         store.getRows() == load.getRows() &&
         store.getColumns() == load.getColumns();
}

// The view that a tile is a window of, or null.
static Value viewOf(Operation *op) {
  if (auto load = dyn_cast_or_null<LoadOp>(op))
    return load.getView();
  if (auto gather = dyn_cast_or_null<GatherRowsOp>(op))
    return gather.getView();
  return {};
}

// Whether a store of the group, or `op` as one, would write what another point
// of the group has still to read.
bool KernelLowering::wouldOverwrite(Operation *op) const {
  SmallVector<Operation *> ops = group.ops();
  ops.push_back(op);
  for (Operation *member : ops) {
    auto store = dyn_cast<StoreOp>(member);
    if (!store)
      continue;
    for (Operation *reader : ops)
      for (Value operand : reader->getOperands()) {
        Operation *source = operand.getDefiningOp();
        if (viewOf(source) == store.getView() && !sameWindow(store, source))
          return true;
      }
  }
  return false;
}

bool KernelLowering::canFollow(Operation *op) const {
  Group shape = shapeOf(op);
  if (shape.columns != group.columns || shape.isColumn || group.isColumn)
    return false;
  SmallVector<Operation *> ops = group.ops();
  ops.push_back(op);
  for (Operation *member : ops)
    if (auto reduce = dyn_cast<ReduceOp>(member))
      if (alongColumns(reduce))
        return false;
  // Ops that have nothing to do with one another gain nothing.
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return operand.getDefiningOp() && group.contains(operand.getDefiningOp());
  });
}

void KernelLowering::join(Operation *op) {
  auto fits = [&] {
    return group.empty() ||
           ((canJoinPass(op) || canFollow(op)) && !wouldOverwrite(op));
  };
  if (!fits())
    flush();
  // This may flush too.
  if (auto store = dyn_cast<StoreOp>(op))
    keepWindowsBefore(store);
  if (group.empty())
    group = shapeOf(op);
  else if (canJoinPass(op))
    group.passes.back().ops.push_back(op);
  else
    group.passes.push_back(shapeOf(op).passes[0]);
}

// Copies a tile that is a window, since what it shows is about to change.
void KernelLowering::keepWindow(Operation *reader) {
  Value tile = reader->getResult(0);
  auto found = places.find(tile);
  if (found == places.end() || found->second.padded)
    return;
  flush();
  auto type = cast<TileType>(tile.getType());
  Place kept = allocate(type);
  copy(tile, type, kept);
  places[tile] = kept;
}

// A window reads memory when its tile is used. Where a store comes between a
// load from the same view and a later use, the loaded tile is copied first.
void KernelLowering::keepWindowsBefore(StoreOp store) {
  for (Operation *reader : store.getView().getUsers()) {
    if (viewOf(reader) != store.getView() ||
        reader->getBlock() != store->getBlock() ||
        !reader->isBeforeInBlock(store))
      continue;
    bool usedLater =
        llvm::any_of(reader->getResult(0).getUsers(), [&](Operation *later) {
          Operation *inBlock = store->getBlock()->findAncestorOpInBlock(*later);
          return inBlock && store->isBeforeInBlock(inBlock);
        });
    bool movesIt =
        store.getTile() == reader->getResult(0) && !sameWindow(store, reader);
    if (usedLater || movesIt)
      keepWindow(reader);
  }
}

// The same where the store stands in a loop: its second iteration would read
// what the first has stored.
void KernelLowering::keepWindowsBeforeLoop(Operation *loop) {
  loop->walk([&](StoreOp store) {
    for (Operation *reader : store.getView().getUsers()) {
      if (viewOf(reader) != store.getView() ||
          reader->getBlock() != loop->getBlock() ||
          !reader->isBeforeInBlock(loop))
        continue;
      if (llvm::any_of(reader->getResult(0).getUsers(), [&](Operation *user) {
            Operation *inBlock = loop->getBlock()->findAncestorOpInBlock(*user);
            // What an scf.for itself takes is copied where it starts.
            return inBlock && !(user == loop && isa<scf::ForOp>(loop)) &&
                   (inBlock == loop || loop->isBeforeInBlock(inBlock));
          }))
        keepWindow(reader);
    }
  });
}

bool KernelLowering::escapes(Value tile, const Pass &pass) const {
  bool isRow = !cast<TileType>(tile.getType()).isBlock();
  return llvm::any_of(tile.getUsers(), [&](Operation *user) {
    return !(isRow ? group.contains(user) : pass.contains(user));
  });
}

Value KernelLowering::elementsOf(Value tile, const Point &point, Lanes &lanes) {
  if (Value known = lanes.lookup(tile))
    return known;
  Value result;
  if (!isa<TileType>(tile.getType())) {
    result = memory.broadcast(lookup(tile), point.lanes);
  } else if (auto splat = splats.find(tile); splat != splats.end()) {
    result = memory.broadcast(splat->second, point.lanes);
  } else {
    Place place = placeOf(tile);
    auto type = cast<TileType>(tile.getType());
    Value zero = memory.constant(0);
    if (type.getRole() == Role::Column && !group.isColumn)
      result = memory.broadcast(memory.loadScalar(place, point.row, zero),
                                point.lanes);
    else if (!type.isBlock())
      result = memory.load(place, zero, point.column, point.lanes, point.valid);
    else
      result =
          memory.load(place, point.row, point.column, point.lanes, point.valid);
  }
  lanes[tile] = result;
  return result;
}

Value KernelLowering::emitMap(MapOp map, const Point &point, Lanes &lanes) {
  Block &body = map.getBody().front();
  IRMapping mapping;
  for (auto [argument, input] :
       llvm::zip_equal(body.getArguments(), map.getInputs()))
    mapping.map(argument, elementsOf(input, point, lanes));
  for (Operation &op : body.without_terminator()) {
    if (isa<RowIndexOp, ColumnIndexOp>(op)) {
      bool alongLanes = isa<ColumnIndexOp>(op) != group.isColumn;
      Value index =
          memory.broadcast(alongLanes ? point.column : point.row, point.lanes);
      if (alongLanes)
        index = arith::AddIOp::create(b, loc, index, memory.iota(point.lanes));
      mapping.map(op.getResult(0), index);
      continue;
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      auto type = memory.vectorType(point.lanes, constant.getType());
      mapping.map(constant.getResult(),
                  arith::ConstantOp::create(
                      b, loc, DenseElementsAttr::get(type, constant.getValue()))
                      .getResult());
      continue;
    }
    // A value from outside the region is a scalar of the kernel.
    for (Value operand : op.getOperands())
      if (!mapping.contains(operand))
        mapping.map(operand, memory.broadcast(lookup(operand), point.lanes));
    Operation *vectorised = b.clone(op, mapping);
    for (auto [old, result] :
         llvm::zip_equal(op.getResults(), vectorised->getResults())) {
      result.setType(memory.vectorType(point.lanes, old.getType()));
      mapping.map(old, result);
    }
  }
  return mapping.lookup(cast<YieldOp>(body.back()).getValues()[0]);
}

// Loads what every row of a run of columns shares, once before the rows: the
// compiler may not, since the rows are stored in between.
void KernelLowering::loadRows(const Pass &pass, const Point &point,
                              Lanes &lanes) {
  llvm::SmallPtrSet<Value, 4> written;
  for (Operation *op : group.ops())
    if (auto store = dyn_cast<StoreOp>(op))
      written.insert(store.getView());
  for (Operation *op : pass.ops)
    for (Value operand : op->getOperands()) {
      auto type = dyn_cast<TileType>(operand.getType());
      auto load = operand.getDefiningOp<LoadOp>();
      if (!type || type.isBlock() || type.getRole() == Role::Column ||
          group.contains(operand.getDefiningOp()) ||
          (load && written.contains(load.getView())))
        continue;
      elementsOf(operand, point, lanes);
    }
}

void KernelLowering::emitPoint(const Pass &pass, const Point &point,
                               Lanes &lanes,
                               function_ref<void(ReduceOp, Value)> reduced) {
  // What is read from a view that the pass writes is read first.
  for (Operation *op : pass.ops)
    if (auto store = dyn_cast<StoreOp>(op))
      for (Operation *reader : pass.ops)
        for (Value operand : reader->getOperands())
          if (auto load = operand.getDefiningOp<LoadOp>())
            if (load.getView() == store.getView())
              elementsOf(operand, point, lanes);
  for (Operation *op : pass.ops) {
    if (auto map = dyn_cast<MapOp>(op)) {
      Value value = emitMap(map, point, lanes);
      lanes[map.getResult()] = value;
      if (escapes(map.getResult(), pass))
        memory.store(placeOf(map.getResult()), point.row, point.column, value,
                     point.valid);
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      Place target = windowOf(store.getView(), store.getIndices(),
                              store.getSizes(), store.getTile().getType(),
                              store.getRows(), store.getColumns());
      memory.store(target, point.row, point.column,
                   elementsOf(store.getTile(), point, lanes), point.valid);
    } else {
      auto reduce = cast<ReduceOp>(op);
      reduced(reduce, elementsOf(reduce.getTile(), point, lanes));
    }
  }
}

namespace {
/// The reductions of a group and their running values.
struct Reductions {
  SmallVector<ReduceOp> ops;

  explicit Reductions(ArrayRef<Operation *> group) {
    for (Operation *op : group)
      if (auto reduce = dyn_cast<ReduceOp>(op))
        ops.push_back(reduce);
  }
  static bool isMax(ReduceOp reduce) {
    return reduce.getKind() == ReduceKind::Max;
  }
  static float neutral(ReduceOp reduce) {
    return isMax(reduce) ? -std::numeric_limits<float>::infinity() : 0.0f;
  }
  static Value combine(OpBuilder &b, Location loc, ReduceOp reduce, Value x,
                       Value y) {
    if (isMax(reduce))
      return arith::MaximumFOp::create(b, loc, x, y);
    return arith::AddFOp::create(b, loc, x, y);
  }
  /// Takes the next element into a running value: in one step where it is a
  /// product that nothing else sees.
  static Value accumulate(OpBuilder &b, Location loc, ReduceOp reduce,
                          Value sum, Value element) {
    auto product = element.getDefiningOp<arith::MulFOp>();
    bool alone =
        product && product->use_empty() && reduce.getTile().hasOneUse();
    if (isMax(reduce) || !alone)
      return combine(b, loc, reduce, sum, element);
    return math::FmaOp::create(b, loc, product.getLhs(), product.getRhs(), sum);
  }
  /// The running values after a point, each taken further where its reduction
  /// stands among the pass's ops: what it reads need not wait in registers.
  auto accumulateInto(OpBuilder &b, Location loc,
                      SmallVectorImpl<Value> &sums) {
    return [this, &b, loc, &sums](ReduceOp reduce, Value element) {
      Value &sum = sums[llvm::find(ops, reduce) - ops.begin()];
      sum = accumulate(b, loc, reduce, sum, element);
    };
  }
};
} // namespace

// A pass that only sums up a product over rows waits for each addition before
// the next: even and odd rows have sums of their own. Whether a pass is one
// follows from its ops, so that every call adds up in the same order.
bool KernelLowering::sumsInTwoChains(const Pass &pass) const {
  int64_t sums = 0;
  for (Operation *op : pass.ops) {
    auto map = dyn_cast<MapOp>(op);
    auto reduce = dyn_cast<ReduceOp>(op);
    if ((map && !escapes(map.getResult(), pass)) ||
        (reduce && !alongColumns(reduce) && !Reductions::isMax(reduce))) {
      sums += reduce ? 1 : 0;
      continue;
    }
    return false;
  }
  return sums == 1;
}

// One pass over a run of columns; `shared` has what its rows share, and gets
// what later passes may: its sums, and all of a single row.
void KernelLowering::emitPass(const Pass &pass, const Point &first,
                              Lanes &shared) {
  Reductions reductions(pass.ops);
  loadRows(pass, first, shared);
  SmallVector<Value> sums;
  for (ReduceOp reduce : reductions.ops)
    sums.push_back(memory.broadcast(
        memory.constantF32(Reductions::neutral(reduce)), first.lanes));
  auto emitRow = [&](Value row, Lanes &lanes, ValueRange before) {
    SmallVector<Value> after(before);
    emitPoint(pass, {row, first.column, first.lanes, first.valid}, lanes,
              reductions.accumulateInto(b, loc, after));
    return after;
  };
  // The rows in `chains` interleaved ones, each with sums of its own.
  auto emitRows = [&](int64_t chains, ValueRange inits) {
    auto rows = scf::ForOp::create(b, loc, memory.constant(0),
                                   memory.constant(pass.rows / chains * chains),
                                   memory.constant(chains), inits);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(rows.getBody());
    SmallVector<Value> next;
    for (int64_t i = 0; i < chains; ++i) {
      Lanes lanes = shared;
      Value row = rows.getInductionVar();
      if (i > 0)
        row = arith::AddIOp::create(b, loc, row, memory.constant(i));
      llvm::append_range(next, emitRow(row, lanes,
                                       rows.getRegionIterArgs().slice(
                                           i * sums.size(), sums.size())));
    }
    if (!next.empty())
      scf::YieldOp::create(b, loc, next);
    return SmallVector<Value>(rows.getResults());
  };
  if (pass.rows == 1) {
    sums = emitRow(first.row, shared, sums);
  } else if (sumsInTwoChains(pass)) {
    SmallVector<Value> chains = emitRows(2, {sums[0], sums[0]});
    if (pass.rows % 2) {
      Lanes lanes = shared;
      chains[0] = emitRow(memory.constant(pass.rows - 1), lanes, chains[0])[0];
    }
    sums[0] = arith::AddFOp::create(b, loc, chains[0], chains[1]);
  } else {
    sums = emitRows(1, sums);
  }
  for (auto [reduce, sum] : llvm::zip_equal(reductions.ops, sums)) {
    shared[reduce.getResult()] = sum;
    if (escapes(reduce.getResult(), pass))
      memory.store(placeOf(reduce.getResult()), first.row, first.column, sum,
                   first.valid);
  }
}

// for columns { for rows { ... } }
void KernelLowering::emitByColumns(const ColumnBlocks &blocks) {
  Value zero = memory.constant(0);
  auto column = [&](Value start, int64_t lanes, int64_t valid) {
    Lanes shared;
    for (const Pass &pass : group.passes)
      emitPass(pass, {zero, start, lanes, valid}, shared);
  };
  // Buffers are made before the loops that write them.
  for (const Pass &pass : group.passes)
    for (ReduceOp reduce : Reductions(pass.ops).ops)
      if (escapes(reduce.getResult(), pass))
        placeOf(reduce.getResult());
  if (blocks.mainCount > 0) {
    auto loop = scf::ForOp::create(
        b, loc, zero, memory.constant(blocks.mainCount * blocks.mainLanes),
        memory.constant(blocks.mainLanes));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    column(loop.getInductionVar(), blocks.mainLanes, blocks.mainLanes);
  }
  for (const ColumnBlock &rest : blocks.rest)
    column(memory.constant(rest.start), rest.lanes, rest.valid);
}

// for rows { for columns { ... } }
void KernelLowering::emitByRows(const ColumnBlocks &blocks) {
  const Pass &pass = group.passes.front();
  Reductions reductions(pass.ops);
  Value zero = memory.constant(0), one = memory.constant(1);
  auto row = [&](Value row) {
    SmallVector<Value> totals(reductions.ops.size());
    auto fold = [&](size_t i, Value vector) {
      Value sum =
          memory.reduceLanes(vector, Reductions::isMax(reductions.ops[i]));
      totals[i] = totals[i] ? Reductions::combine(b, loc, reductions.ops[i],
                                                  totals[i], sum)
                            : sum;
    };
    if (blocks.mainCount > 0) {
      SmallVector<Value> inits;
      for (ReduceOp reduce : reductions.ops)
        inits.push_back(memory.broadcast(
            memory.constantF32(Reductions::neutral(reduce)), blocks.mainLanes));
      auto loop = scf::ForOp::create(
          b, loc, zero, memory.constant(blocks.mainCount * blocks.mainLanes),
          memory.constant(blocks.mainLanes), inits);
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(loop.getBody());
        Lanes lanes;
        SmallVector<Value> next(loop.getRegionIterArgs());
        emitPoint(
            pass,
            {row, loop.getInductionVar(), blocks.mainLanes, blocks.mainLanes},
            lanes, reductions.accumulateInto(b, loc, next));
        scf::YieldOp::create(b, loc, next);
      }
      for (auto [i, sum] : llvm::enumerate(loop.getResults()))
        fold(i, sum);
    }
    for (const ColumnBlock &rest : blocks.rest) {
      Lanes lanes;
      emitPoint(pass,
                {row, memory.constant(rest.start), rest.lanes, rest.valid},
                lanes, [](ReduceOp, Value) {});
      for (auto [i, reduce] : llvm::enumerate(reductions.ops)) {
        Value value = lanes.lookup(reduce.getTile());
        if (rest.valid != rest.lanes) {
          Value inside = arith::CmpIOp::create(
              b, loc, arith::CmpIPredicate::slt, memory.iota(rest.lanes),
              memory.broadcast(memory.constant(rest.valid), rest.lanes));
          Value neutral = memory.broadcast(
              memory.constantF32(Reductions::neutral(reduce)), rest.lanes);
          value = arith::SelectOp::create(b, loc, inside, value, neutral);
        }
        fold(i, value);
      }
    }
    for (auto [reduce, total] : llvm::zip_equal(reductions.ops, totals)) {
      if (reduce.getResult().getType().isF32())
        scalars.map(reduce.getResult(), total);
      else
        memory.storeScalar(placeOf(reduce.getResult()), row, zero, total);
    }
  };
  for (ReduceOp reduce : reductions.ops)
    if (isa<TileType>(reduce.getResult().getType()))
      placeOf(reduce.getResult());
  if (pass.rows == 1)
    return row(zero);
  auto loop = scf::ForOp::create(b, loc, zero, memory.constant(pass.rows), one);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  row(loop.getInductionVar());
}

// The most sums over rows that a pass of the group keeps at once. Each has as
// many vectors as a run of columns: with two of four each, what else a pass
// needs no longer fits the registers.
int64_t KernelLowering::sumsOverRows() const {
  int64_t most = 0;
  for (const Pass &pass : group.passes) {
    if (pass.rows == 1)
      continue;
    int64_t sums = llvm::count_if(pass.ops, [](Operation *op) {
      auto reduce = dyn_cast<ReduceOp>(op);
      return reduce && !alongColumns(reduce);
    });
    most = std::max(most, sums);
  }
  return most;
}

void KernelLowering::flush() {
  if (group.empty())
    return;
  // Buffers and windows used below are formed before the loops.
  bool readsMemory = false, byRows = false;
  for (const Pass &pass : group.passes)
    for (Operation *op : pass.ops) {
      if (auto map = dyn_cast<MapOp>(op))
        if (escapes(map.getResult(), pass))
          placeOf(map.getResult());
      for (Value operand : op->getOperands())
        if (isa<TileType>(operand.getType()) && !splats.count(operand) &&
            !group.contains(operand.getDefiningOp()))
          readsMemory |= placeOf(operand).fetchNext;
      auto reduce = dyn_cast<ReduceOp>(op);
      byRows |= reduce && alongColumns(reduce);
    }
  const VectorShape &shape = memory.shape;
  int64_t lanes = readsMemory          ? shape.memoryLanes()
                  : sumsOverRows() > 1 ? shape.mainLanes() / 2
                                       : shape.mainLanes();
  ColumnBlocks blocks = ColumnBlocks::cut(group.columns, shape, lanes);
  byRows ? emitByRows(blocks) : emitByColumns(blocks);
  group = {};
}
