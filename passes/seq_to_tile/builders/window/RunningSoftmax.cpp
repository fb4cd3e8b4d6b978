#include "passes/seq_to_tile/builders/window/RunningSoftmax.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/seq_to_tile/builders/window/WindowPieces.h"

using namespace mlir;
using namespace effc;

RunningSoftmax RunningSoftmax::begin(KernelBuilder &k, int64_t rows,
                                     int64_t channels) {
  auto splat = [&](tile::TileType type, float value) -> Value {
    return tile::SplatOp::create(k.ops(), k.loc(), type, k.scalar(value));
  };
  RunningSoftmax begin;
  begin.largest = splat(k.columnType(rows), kLowestScore);
  begin.total = splat(k.columnType(rows), 0);
  if (channels > 0)
    begin.mixed =
        splat(k.blockType(rows, channels, tile::Role::Accumulator), 0);
  return begin;
}

SmallVector<Value> RunningSoftmax::values() const {
  SmallVector<Value> values = {largest, total};
  if (mixed)
    values.push_back(mixed);
  return values;
}

RunningSoftmax RunningSoftmax::of(ValueRange values) {
  return {values[0], values[1], values.size() > 2 ? values[2] : Value()};
}

SoftmaxStep SoftmaxStep::of(KernelBuilder &k, const RunningSoftmax &before,
                            Value scores) {
  OpBuilder &b = k.ops();
  Location loc = k.loc();
  auto scoreType = cast<tile::TileType>(scores.getType());
  tile::TileType columnType = k.columnType(scoreType.rows());
  auto reduce = [&](tile::ReduceKind kind, Value tile) -> Value {
    return tile::ReduceOp::create(b, loc, columnType, kind, tile,
                                  /*over_rows=*/false);
  };
  auto powers = [&](tile::TileType type, Value x, Value y) {
    return k.map(type, {x, y}, [&](OpBuilder &builder, ValueRange e) -> Value {
      Value difference = arith::SubFOp::create(builder, loc, e[0], e[1]);
      return math::ExpOp::create(builder, loc, difference);
    });
  };
  SoftmaxStep step;
  Value blockLargest = reduce(tile::ReduceKind::Max, scores);
  step.largest =
      k.map(columnType, {before.largest, blockLargest},
            [&](OpBuilder &builder, ValueRange e) -> Value {
              return arith::MaximumFOp::create(builder, loc, e[0], e[1]);
            });
  step.faded = powers(columnType, before.largest, step.largest);
  step.weights = powers(scoreType, scores, step.largest);
  Value blockTotal = reduce(tile::ReduceKind::Add, step.weights);
  step.total =
      k.map(columnType, {before.total, step.faded, blockTotal},
            [&](OpBuilder &builder, ValueRange e) -> Value {
              return math::FmaOp::create(builder, loc, e[0], e[1], e[2]);
            });
  return step;
}

RunningSoftmax SoftmaxStep::mix(KernelBuilder &k, Value mixed,
                                Value values) const {
  Value kept =
      k.map(cast<tile::TileType>(mixed.getType()), {mixed, faded},
            [&](OpBuilder &builder, ValueRange e) -> Value {
              return arith::MulFOp::create(builder, k.loc(), e[0], e[1]);
            });
  return {largest, total, k.dot(kept, weights, values)};
}
