// The loop nest of a group of maps, stores and reductions.
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
#include "codegen/host/ElementGroup.h"
#include "codegen/host/KernelState.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

using namespace mlir;
using namespace effc;
using namespace effc::tile;

namespace effc::host {

namespace {
/// One point of a group's loop nest: a row and a run of its columns.
struct Point {
  mlir::Value row, column;
  int64_t lanes, valid;
};
using Lanes = llvm::DenseMap<mlir::Value, mlir::Value>;
} // namespace

static bool escapes(KernelState &s, Value tile, const Pass &pass) {
  bool isRow = !cast<TileType>(tile.getType()).isBlock();
  return llvm::any_of(tile.getUsers(), [&](Operation *user) {
    return !(isRow ? s.group.contains(user) : pass.contains(user));
  });
}

static Value elementsOf(KernelState &s, Value tile, const Point &point,
                        Lanes &lanes) {
  if (Value known = lanes.lookup(tile))
    return known;
  Value result;
  if (!isa<TileType>(tile.getType())) {
    result = s.memory.broadcast(s.lookup(tile), point.lanes);
  } else if (auto splat = s.splats.find(tile); splat != s.splats.end()) {
    result = s.memory.broadcast(splat->second, point.lanes);
  } else {
    Place place = s.placeOf(tile);
    auto type = cast<TileType>(tile.getType());
    Value zero = s.memory.constant(0);
    if (type.getRole() == Role::Column && !s.group.isColumn)
      result = s.memory.broadcast(s.memory.loadScalar(place, point.row, zero),
                                  point.lanes);
    else if (!type.isBlock())
      result =
          s.memory.load(place, zero, point.column, point.lanes, point.valid);
    else
      result = s.memory.load(place, point.row, point.column, point.lanes,
                             point.valid);
  }
  lanes[tile] = result;
  return result;
}

static Value emitMap(KernelState &s, MapOp map, const Point &point,
                     Lanes &lanes) {
  Block &body = map.getBody().front();
  IRMapping mapping;
  for (auto [argument, input] :
       llvm::zip_equal(body.getArguments(), map.getInputs()))
    mapping.map(argument, elementsOf(s, input, point, lanes));
  for (Operation &op : body.without_terminator()) {
    if (isa<RowIndexOp, ColumnIndexOp>(op)) {
      bool alongLanes = isa<ColumnIndexOp>(op) != s.group.isColumn;
      Value index = s.memory.broadcast(alongLanes ? point.column : point.row,
                                       point.lanes);
      if (alongLanes)
        index = arith::AddIOp::create(s.b, index, s.memory.iota(point.lanes));
      mapping.map(op.getResult(0), index);
      continue;
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      auto type = s.memory.vectorType(point.lanes, constant.getType());
      mapping.map(constant.getResult(),
                  arith::ConstantOp::create(
                      s.b, DenseElementsAttr::get(type, constant.getValue()))
                      .getResult());
      continue;
    }
    // A value from outside the region is a scalar of the kernel.
    for (Value operand : op.getOperands())
      if (!mapping.contains(operand))
        mapping.map(operand,
                    s.memory.broadcast(s.lookup(operand), point.lanes));
    Operation *vectorised = s.b.clone(op, mapping);
    for (auto [old, result] :
         llvm::zip_equal(op.getResults(), vectorised->getResults())) {
      result.setType(s.memory.vectorType(point.lanes, old.getType()));
      mapping.map(old, result);
    }
  }
  return mapping.lookup(cast<YieldOp>(body.back()).getValues()[0]);
}

// Loads what every row of a run of columns shares, once before the rows: the
// compiler may not, since the rows are stored in between.
static void loadRows(KernelState &s, const Pass &pass, const Point &point,
                     Lanes &lanes) {
  llvm::SmallPtrSet<Value, 4> written;
  for (Operation *op : s.group.ops())
    if (auto store = dyn_cast<StoreOp>(op))
      written.insert(store.getView());
  for (Operation *op : pass.ops)
    for (Value operand : op->getOperands()) {
      auto type = dyn_cast<TileType>(operand.getType());
      auto load = operand.getDefiningOp<LoadOp>();
      if (!type || type.isBlock() || type.getRole() == Role::Column ||
          s.group.contains(operand.getDefiningOp()) ||
          (load && written.contains(load.getView())))
        continue;
      elementsOf(s, operand, point, lanes);
    }
}

static void emitPoint(KernelState &s, const Pass &pass, const Point &point,
                      Lanes &lanes,
                      function_ref<void(ReduceOp, Value)> reduced) {
  // What is read from a view that the pass writes is read first.
  for (Operation *op : pass.ops)
    if (auto store = dyn_cast<StoreOp>(op))
      for (Operation *reader : pass.ops)
        for (Value operand : reader->getOperands())
          if (auto load = operand.getDefiningOp<LoadOp>())
            if (load.getView() == store.getView())
              elementsOf(s, operand, point, lanes);
  for (Operation *op : pass.ops) {
    if (auto map = dyn_cast<MapOp>(op)) {
      Value value = emitMap(s, map, point, lanes);
      lanes[map.getResult()] = value;
      if (escapes(s, map.getResult(), pass))
        s.memory.store(s.placeOf(map.getResult()), point.row, point.column,
                       value, point.valid);
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      Place target = s.windowOf(store.getView(), store.getIndices(),
                                store.getSizes(), store.getTile().getType(),
                                store.getRows(), store.getColumns());
      s.memory.store(target, point.row, point.column,
                     elementsOf(s, store.getTile(), point, lanes), point.valid);
    } else {
      auto reduce = cast<ReduceOp>(op);
      reduced(reduce, elementsOf(s, reduce.getTile(), point, lanes));
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
static bool sumsInTwoChains(KernelState &s, const Pass &pass) {
  int64_t sums = 0;
  for (Operation *op : pass.ops) {
    auto map = dyn_cast<MapOp>(op);
    auto reduce = dyn_cast<ReduceOp>(op);
    if ((map && !escapes(s, map.getResult(), pass)) ||
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
static void emitPass(KernelState &s, const Pass &pass, const Point &first,
                     Lanes &shared) {
  Reductions reductions(pass.ops);
  loadRows(s, pass, first, shared);
  SmallVector<Value> sums;
  for (ReduceOp reduce : reductions.ops)
    sums.push_back(s.memory.broadcast(
        s.memory.constantF32(Reductions::neutral(reduce)), first.lanes));
  auto emitRow = [&](Value row, Lanes &lanes, ValueRange before) {
    SmallVector<Value> after(before);
    emitPoint(s, pass, {row, first.column, first.lanes, first.valid}, lanes,
              reductions.accumulateInto(s.b, s.loc(), after));
    return after;
  };
  // The rows in `chains` interleaved ones, each with sums of its own.
  auto emitRows = [&](int64_t chains, ValueRange inits) {
    auto rows =
        scf::ForOp::create(s.b, s.memory.constant(0),
                           s.memory.constant(pass.rows / chains * chains),
                           s.memory.constant(chains), inits);
    OpBuilder::InsertionGuard guard(s.b);
    s.b.setInsertionPointToStart(rows.getBody());
    SmallVector<Value> next;
    for (int64_t i = 0; i < chains; ++i) {
      Lanes lanes = shared;
      Value row = rows.getInductionVar();
      if (i > 0)
        row = arith::AddIOp::create(s.b, row, s.memory.constant(i));
      llvm::append_range(next, emitRow(row, lanes,
                                       rows.getRegionIterArgs().slice(
                                           i * sums.size(), sums.size())));
    }
    if (!next.empty())
      scf::YieldOp::create(s.b, next);
    return SmallVector<Value>(rows.getResults());
  };
  if (pass.rows == 1) {
    sums = emitRow(first.row, shared, sums);
  } else if (sumsInTwoChains(s, pass)) {
    SmallVector<Value> chains = emitRows(2, {sums[0], sums[0]});
    if (pass.rows % 2) {
      Lanes lanes = shared;
      chains[0] =
          emitRow(s.memory.constant(pass.rows - 1), lanes, chains[0])[0];
    }
    sums[0] = arith::AddFOp::create(s.b, chains[0], chains[1]);
  } else {
    sums = emitRows(1, sums);
  }
  for (auto [reduce, sum] : llvm::zip_equal(reductions.ops, sums)) {
    shared[reduce.getResult()] = sum;
    if (escapes(s, reduce.getResult(), pass))
      s.memory.store(s.placeOf(reduce.getResult()), first.row, first.column,
                     sum, first.valid);
  }
}

// for columns { for rows { ... } }
static void emitByColumns(KernelState &s, const ColumnBlocks &blocks) {
  Value zero = s.memory.constant(0);
  auto column = [&](Value start, int64_t lanes, int64_t valid) {
    Lanes shared;
    for (const Pass &pass : s.group.passes)
      emitPass(s, pass, {zero, start, lanes, valid}, shared);
  };
  // Buffers are made before the loops that write them.
  for (const Pass &pass : s.group.passes)
    for (ReduceOp reduce : Reductions(pass.ops).ops)
      if (escapes(s, reduce.getResult(), pass))
        s.placeOf(reduce.getResult());
  if (blocks.mainCount > 0) {
    auto loop = scf::ForOp::create(
        s.b, zero, s.memory.constant(blocks.mainCount * blocks.mainLanes),
        s.memory.constant(blocks.mainLanes));
    OpBuilder::InsertionGuard guard(s.b);
    s.b.setInsertionPointToStart(loop.getBody());
    column(loop.getInductionVar(), blocks.mainLanes, blocks.mainLanes);
  }
  for (const ColumnBlock &rest : blocks.rest)
    column(s.memory.constant(rest.start), rest.lanes, rest.valid);
}

// for rows { for columns { ... } }
static void emitByRows(KernelState &s, const ColumnBlocks &blocks) {
  const Pass &pass = s.group.passes.front();
  Reductions reductions(pass.ops);
  Value zero = s.memory.constant(0), one = s.memory.constant(1);
  auto row = [&](Value row) {
    SmallVector<Value> totals(reductions.ops.size());
    auto fold = [&](size_t i, Value vector) {
      Value sum =
          s.memory.reduceLanes(vector, Reductions::isMax(reductions.ops[i]));
      totals[i] = totals[i]
                      ? Reductions::combine(s.b, s.loc(), reductions.ops[i],
                                            totals[i], sum)
                      : sum;
    };
    if (blocks.mainCount > 0) {
      SmallVector<Value> inits;
      for (ReduceOp reduce : reductions.ops)
        inits.push_back(s.memory.broadcast(
            s.memory.constantF32(Reductions::neutral(reduce)),
            blocks.mainLanes));
      auto loop = scf::ForOp::create(
          s.b, zero, s.memory.constant(blocks.mainCount * blocks.mainLanes),
          s.memory.constant(blocks.mainLanes), inits);
      {
        OpBuilder::InsertionGuard guard(s.b);
        s.b.setInsertionPointToStart(loop.getBody());
        Lanes lanes;
        SmallVector<Value> next(loop.getRegionIterArgs());
        emitPoint(
            s, pass,
            {row, loop.getInductionVar(), blocks.mainLanes, blocks.mainLanes},
            lanes, reductions.accumulateInto(s.b, s.loc(), next));
        scf::YieldOp::create(s.b, next);
      }
      for (auto [i, sum] : llvm::enumerate(loop.getResults()))
        fold(i, sum);
    }
    for (const ColumnBlock &rest : blocks.rest) {
      Lanes lanes;
      emitPoint(s, pass,
                {row, s.memory.constant(rest.start), rest.lanes, rest.valid},
                lanes, [](ReduceOp, Value) {});
      for (auto [i, reduce] : llvm::enumerate(reductions.ops)) {
        Value value = lanes.lookup(reduce.getTile());
        if (rest.valid != rest.lanes) {
          Value inside = arith::CmpIOp::create(
              s.b, arith::CmpIPredicate::slt, s.memory.iota(rest.lanes),
              s.memory.broadcast(s.memory.constant(rest.valid), rest.lanes));
          Value neutral = s.memory.broadcast(
              s.memory.constantF32(Reductions::neutral(reduce)), rest.lanes);
          value = arith::SelectOp::create(s.b, inside, value, neutral);
        }
        fold(i, value);
      }
    }
    for (auto [reduce, total] : llvm::zip_equal(reductions.ops, totals)) {
      if (reduce.getResult().getType().isF32())
        s.scalars.map(reduce.getResult(), total);
      else
        s.memory.storeScalar(s.placeOf(reduce.getResult()), row, zero, total);
    }
  };
  for (ReduceOp reduce : reductions.ops)
    if (isa<TileType>(reduce.getResult().getType()))
      s.placeOf(reduce.getResult());
  if (pass.rows == 1)
    return row(zero);
  auto loop = scf::ForOp::create(s.b, zero, s.memory.constant(pass.rows), one);
  OpBuilder::InsertionGuard guard(s.b);
  s.b.setInsertionPointToStart(loop.getBody());
  row(loop.getInductionVar());
}

// The most sums over rows that a pass of the group keeps at once. Each has as
// many vectors as a run of columns: with two of four each, what else a pass
// needs no longer fits the registers.
static int64_t sumsOverRows(KernelState &s) {
  int64_t most = 0;
  for (const Pass &pass : s.group.passes) {
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

void flushGroup(KernelState &s) {
  if (s.group.empty())
    return;
  // Buffers and windows used below are formed before the loops.
  bool readsMemory = false, byRows = false;
  for (const Pass &pass : s.group.passes)
    for (Operation *op : pass.ops) {
      if (auto map = dyn_cast<MapOp>(op))
        if (escapes(s, map.getResult(), pass))
          s.placeOf(map.getResult());
      for (Value operand : op->getOperands())
        if (isa<TileType>(operand.getType()) && !s.splats.count(operand) &&
            !s.group.contains(operand.getDefiningOp()))
          readsMemory |= s.placeOf(operand).fetchNext;
      auto reduce = dyn_cast<ReduceOp>(op);
      byRows |= reduce && alongColumns(reduce);
    }
  const VectorShape &shape = s.memory.shape;
  int64_t lanes = readsMemory           ? shape.memoryLanes()
                  : sumsOverRows(s) > 1 ? shape.mainLanes() / 2
                                        : shape.mainLanes();
  ColumnBlocks blocks = ColumnBlocks::cut(s.group.columns, shape, lanes);
  byRows ? emitByRows(s, blocks) : emitByColumns(s, blocks);
  s.group = {};
}

} // namespace effc::host
