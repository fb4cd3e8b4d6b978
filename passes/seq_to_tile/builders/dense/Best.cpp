#include "passes/seq_to_tile/builders/dense/Best.h"

#include "passes/kernel_facts/BlockRoom.h"
#include "passes/kernel_facts/Cores.h"
#include "passes/seq_to_tile/builders/Builders.h"
#include "passes/seq_to_tile/builders/dense/Draw.h"

#include "dialects/plan/MemoryLayout.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace effc;

static constexpr float kNone = -std::numeric_limits<float>::infinity();

static Value isNan(OpBuilder &b, Location loc, Value x) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
}

static Value select(OpBuilder &b, Location loc, Value condition, Value x,
                    Value y) {
  return arith::SelectOp::create(b, loc, condition, x, y);
}

static Value constant(OpBuilder &b, Location loc, float value) {
  return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
}

namespace {
/// A reduction of what lies along a tile's columns, or along a column.
class Reduction {
public:
  Reduction(KernelBuilder &k, Value tile)
      : k(k), type(cast<tile::TileType>(tile.getType())) {}

  Value largest(Value tile) const {
    Type result = type.isBlock() ? Type(k.columnType(type.rows()))
                                 : Type(k.ops().getF32Type());
    return tile::ReduceOp::create(k.ops(), k.loc(), result,
                                  tile::ReduceKind::Max, tile,
                                  /*over_rows=*/false);
  }
  Value map(ValueRange inputs,
            function_ref<Value(OpBuilder &, ValueRange)> body) const {
    return k.map(type, inputs, body);
  }
  /// Which element of its row, or column, a map computes.
  Value place(OpBuilder &b) const {
    if (type.getRole() == tile::Role::Column)
      return tile::RowIndexOp::create(b, k.loc(), b.getIndexType());
    return tile::ColumnIndexOp::create(b, k.loc(), b.getIndexType());
  }

  /// -x of what largest() gives.
  Value negative(Value x) const {
    auto negate = [&](OpBuilder &b, ValueRange e) -> Value {
      return arith::NegFOp::create(b, k.loc(), e[0]);
    };
    if (auto column = dyn_cast<tile::TileType>(x.getType()))
      return k.map(column, x, negate);
    return negate(k.ops(), x);
  }

private:
  KernelBuilder &k;
  tile::TileType type;
};
} // namespace

// Elements from `limit` on are out of the question.
static Value within(KernelBuilder &k, const Reduction &along, Value tile,
                    Value limit) {
  if (!limit)
    return tile;
  return along.map(tile, [&](OpBuilder &b, ValueRange e) {
    Value counts = arith::CmpIOp::create(b, k.loc(), arith::CmpIPredicate::slt,
                                         along.place(b), limit);
    return select(b, k.loc(), counts, e[0], constant(b, k.loc(), kNone));
  });
}

// The number of the element at `place` of a tile that begins at `first`.
static Value numberAt(OpBuilder &b, Location loc, Value first, Value place) {
  Value number = arith::AddIOp::create(b, loc, first, place);
  number = arith::IndexCastOp::create(b, loc, b.getI32Type(), number);
  return arith::SIToFPOp::create(b, loc, b.getF32Type(), number);
}

// Whether `later` takes the place of `earlier`: the first that is no number
// stays.
static Value isTaken(OpBuilder &b, Location loc, Value earlier, Value later) {
  auto compare = [&](arith::CmpFPredicate predicate, Value x,
                     Value y) -> Value {
    return arith::CmpFOp::create(b, loc, predicate, x, y);
  };
  Value larger = compare(arith::CmpFPredicate::OGT, later, earlier);
  Value isFirstNan = arith::AndIOp::create(
      b, loc, isNan(b, loc, later),
      compare(arith::CmpFPredicate::ORD, earlier, earlier));
  return arith::OrIOp::create(b, loc, larger, isFirstNan);
}

// The first of those that are as large as the largest, or no numbers at all.
static Best bestOf(KernelBuilder &k, Value tile, ValueRange numbers,
                   function_ref<Value(OpBuilder &, Value, ValueRange)> number) {
  Location loc = k.loc();
  Reduction along(k, tile);
  Value largest = along.largest(tile);
  SmallVector<Value> inputs = {tile, largest};
  llvm::append_range(inputs, numbers);
  // Tiles have their largest elements only, so that numbers are negated.
  Value candidates = along.map(inputs, [&](OpBuilder &b, ValueRange e) {
    Value equal =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, e[0], e[1]);
    Value first = arith::OrIOp::create(b, loc, equal, isNan(b, loc, e[0]));
    Value negated = arith::NegFOp::create(
        b, loc, number(b, along.place(b), e.drop_front(2)));
    return select(b, loc, first, negated, constant(b, loc, kNone));
  });
  return {largest, along.negative(along.largest(candidates))};
}

Best effc::bestOf(KernelBuilder &k, Value tile, Value first, Value limit) {
  Value counting = within(k, Reduction(k, tile), tile, limit);
  return ::bestOf(k, counting, {}, [&](OpBuilder &b, Value place, ValueRange) {
    return numberAt(b, k.loc(), first, place);
  });
}

Best effc::bestOf(KernelBuilder &k, Best tiles) {
  return ::bestOf(k, tiles.value, tiles.number,
                  [](OpBuilder &, Value, ValueRange e) { return e[0]; });
}

Best effc::bestOfTwo(KernelBuilder &k, Best earlier, Best later) {
  OpBuilder &b = k.ops();
  Value taken = isTaken(b, k.loc(), earlier.value, later.value);
  return {select(b, k.loc(), taken, later.value, earlier.value),
          select(b, k.loc(), taken, later.number, earlier.number)};
}

Best effc::bestOfPlaces(KernelBuilder &k, Best earlier, Value tile, Value first,
                        Value limit) {
  Reduction along(k, tile);
  Value later = within(k, along, tile, limit);
  Value value =
      along.map({earlier.value, later}, [&](OpBuilder &b, ValueRange e) {
        return select(b, k.loc(), isTaken(b, k.loc(), e[0], e[1]), e[1], e[0]);
      });
  Value number = along.map(
      {earlier.value, later, earlier.number}, [&](OpBuilder &b, ValueRange e) {
        return select(b, k.loc(), isTaken(b, k.loc(), e[0], e[1]),
                      numberAt(b, k.loc(), first, along.place(b)), e[2]);
      });
  return {value, number};
}

Best effc::noBest(KernelBuilder &k) { return {k.scalar(kNone), k.scalar(0)}; }

ChoiceItems ChoiceItems::of(Operation *root, const KernelContext &context) {
  const DenseTile &tile = context.sizes.dense;
  int64_t outputs =
      cast<RankedTensorType>(root->getResult(0).getType()).getDimSize(1);
  // Of a single row a tile has few outputs.
  int64_t runs = context.isGpu() && tile.rows == 1
                     ? std::max<int64_t>(1, kChosenOutputs / tile.outputs)
                     : 1;
  return {runs, int64_t(llvm::divideCeil(outputs, runs * tile.outputs))};
}

Value effc::choiceMemory(KernelBuilder &k, const ChoiceItems &items,
                         bool written) {
  int64_t columns = llvm::alignTo(items.count, plan::kRowAlignment / 4);
  return k.scratch({ShapedType::kDynamic, 2, columns}, written);
}

// The best of `count` numbers of row `k.item()`, which `find` gives from a
// place on, with how many of them count, into the result of seq.best.
static LogicalResult
buildBestOfRow(KernelBuilder &k, int64_t count,
               function_ref<Best(int64_t width, Value at, Value limit)> find) {
  OpBuilder &b = k.ops();
  int64_t together = k.isGpu()
                         ? BlockRoom::of(k.getContext().target).rowElements()
                         : hostScores(k.getContext().target);
  int64_t width = std::min(count, together);
  Best best;
  if (width == count) {
    best = find(width, k.index(0), {});
  } else {
    Best none = noBest(k);
    auto loop =
        scf::ForOp::create(b, k.loc(), k.index(0), k.index(count),
                           k.index(width), ValueRange{none.value, none.number});
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value at = loop.getInductionVar(), limit;
    if (count % width != 0)
      limit = k.min(k.sub(k.index(count), at), k.index(width));
    Best sum =
        bestOfTwo(k, {loop.getRegionIterArg(0), loop.getRegionIterArg(1)},
                  find(width, at, limit));
    scf::YieldOp::create(b, k.loc(), ValueRange{sum.value, sum.number});
    best = {loop.getResult(0), loop.getResult(1)};
  }
  Value pair =
      k.map(k.rowType(2), {best.value, best.number},
            [&](OpBuilder &inside, ValueRange e) {
              Value column = tile::ColumnIndexOp::create(inside, k.loc(),
                                                         inside.getIndexType());
              Value zero = arith::ConstantIndexOp::create(inside, k.loc(), 0);
              Value isValue = arith::CmpIOp::create(
                  inside, k.loc(), arith::CmpIPredicate::eq, column, zero);
              return select(inside, k.loc(), isValue, e[0], e[1]);
            });
  for (auto [i, yielded] :
       llvm::enumerate(k.getSourceBody().getTerminator()->getOperands()))
    if (yielded.getDefiningOp<seq::BestOp>())
      k.store(pair, k.write(i), {k.item(), k.index(0)}, {1, 2});
  return success();
}

LogicalResult effc::buildBest(KernelBuilder &k) {
  auto op = cast<seq::BestOp>(k.getRoot());
  k.setItems(k.getContext().lead, 1, 1);
  Value x = k.read(op.getX());
  DrawWords draws = DrawWords::read(k, k.item(), /*rows=*/1, {});
  return buildBestOfRow(
      k, op.getX().getType().getDimSize(1),
      [&](int64_t width, Value at, Value limit) {
        Value row =
            k.load(x, {k.item(), at}, {1, width}, k.rowType(width), {}, limit);
        return bestOf(k, draws.addNoise(k, row, at), at, limit);
      });
}

LogicalResult effc::buildBestOfItems(KernelBuilder &k) {
  auto items = ChoiceItems::of(k.getRoot(), k.getContext());
  k.setItems(k.getContext().lead, 1, 1);
  Value memory = choiceMemory(k, items, /*written=*/false);
  return buildBestOfRow(
      k, items.count, [&](int64_t width, Value at, Value limit) {
        auto load = [&](int64_t half) {
          return k.load(memory, {k.item(), k.index(half), at}, {1, 1, width},
                        k.rowType(width), {}, limit);
        };
        Value values = load(0);
        return bestOf(
            k, {within(k, Reduction(k, values), values, limit), load(1)});
      });
}
