// Which keys count for a query where only those of the largest numbers do.
//
// Nothing is sorted and nothing is stored: the number of the last key that
// counts is found bit by bit, by counting how many keys in sight have at least
// the number in the middle of what is left; then, in the same way, the position
// up to which keys of just this number count. Floor: 32 + log2(W) comparisons
// per key in sight, beside the 2 (K + V) FLOPs of its score and value.
#include "passes/seq_to_tile/builders/window/Window.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace effc;

// The bits of a float as an integer with the order of the floats, and back: the
// bits of a negative one count downwards.
static Value flipNegative(OpBuilder &b, Location loc, Value bits) {
  auto number = [&](int32_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
  };
  Value sign = arith::ShRSIOp::create(b, loc, bits, number(31));
  Value mask = arith::AndIOp::create(
      b, loc, sign, number(std::numeric_limits<int32_t>::max()));
  return arith::XOrIOp::create(b, loc, bits, mask);
}

// The float halfway between two in their order, rounded down.
static Value middle(OpBuilder &b, Location loc, Value low, Value high) {
  auto ordered = [&](Value x) {
    return flipNegative(b, loc,
                        arith::BitcastOp::create(b, loc, b.getI32Type(), x));
  };
  Value x = ordered(low), y = ordered(high);
  Value differing = arith::ShRSIOp::create(
      b, loc, arith::XOrIOp::create(b, loc, x, y),
      arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(1)));
  Value between = arith::AddIOp::create(
      b, loc, arith::AndIOp::create(b, loc, x, y), differing);
  return arith::BitcastOp::create(b, loc, b.getF32Type(),
                                  flipNegative(b, loc, between));
}

// The whole number halfway between two.
static Value middleOfWhole(OpBuilder &b, Location loc, Value low, Value high) {
  Value sum = arith::FPToSIOp::create(b, loc, b.getI32Type(),
                                      arith::AddFOp::create(b, loc, low, high));
  Value half = arith::ShRSIOp::create(
      b, loc, sum, arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(1)));
  return arith::SIToFPOp::create(b, loc, b.getF32Type(), half);
}

static Value asFloat(OpBuilder &b, Location loc, Value distance) {
  return arith::SIToFPOp::create(b, loc, b.getF32Type(), distance);
}

Value WindowKernel::isKept(OpBuilder &builder, Value number, Value distance,
                           Value bound, Value last) {
  Location loc = k.loc();
  auto compareTo = [&](arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(builder, loc, predicate, x, y);
  };
  Value above = compareTo(arith::CmpFPredicate::OGT, number, bound);
  Value equal = compareTo(arith::CmpFPredicate::OEQ, number, bound);
  Value early = compareTo(arith::CmpFPredicate::OLE,
                          asFloat(builder, loc, distance), last);
  return arith::OrIOp::create(
      builder, loc, above, arith::AndIOp::create(builder, loc, equal, early));
}

Value WindowKernel::count(
    const Queries &queries, ValueRange columns,
    function_ref<Value(OpBuilder &, Value number, Value distance,
                       ValueRange columns)>
        holds) {
  return overKeys(
             queries, {splat(columnType, 0)},
             [&](KeyBlock block, LoadKeys load,
                 ValueRange before) -> SmallVector<Value> {
               Keys keys;
               keys.numbers = load(statesOf(block).numbers, tokens.keyScore,
                                   queries.numberHead, /*channels=*/1);
               SmallVector<Value> inputs = {spread(keys)};
               llvm::append_range(inputs, columns);
               Value hits = k.map(
                   scoreType, inputs, [&](OpBuilder &builder, ValueRange e) {
                     Sight sight = sightOf(builder, block);
                     Value hit = arith::AndIOp::create(
                         builder, k.loc(), sight.visible,
                         holds(builder, e[0], sight.distance, e.drop_front()));
                     return arith::SelectOp::create(builder, k.loc(), hit,
                                                    constant(builder, 1),
                                                    constant(builder, 0))
                         .getResult();
                   });
               Value more = tile::ReduceOp::create(b, k.loc(), columnType,
                                                   tile::ReduceKind::Add, hits,
                                                   /*over_rows=*/false);
               return {k.map(columnType, {before[0], more},
                             [&](OpBuilder &builder, ValueRange e) -> Value {
                               return arith::AddFOp::create(builder, k.loc(),
                                                            e[0], e[1]);
                             })};
             })
      .front();
}

std::pair<Value, Value>
WindowKernel::halve(Value low, Value high, int64_t steps, Middle middleOf,
                    bool upwards, function_ref<Value(Value)> surplusAt) {
  Location loc = k.loc();
  auto loop = scf::ForOp::create(b, loc, k.index(0), k.index(steps), k.index(1),
                                 ValueRange{low, high});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  ValueRange ends = loop.getRegionIterArgs();
  Value at = k.map(columnType, {ends[0], ends[1]},
                   [&](OpBuilder &builder, ValueRange e) {
                     return middleOf(builder, loc, e[0], e[1]);
                   });
  Value surplus = surplusAt(at);
  auto end = [&](Value old, bool moves) {
    return k.map(columnType, {surplus, at, old},
                 [&](OpBuilder &builder, ValueRange e) -> Value {
                   Value isEnough = arith::CmpFOp::create(
                       builder, loc, arith::CmpFPredicate::OGE, e[0],
                       constant(builder, 0));
                   return arith::SelectOp::create(builder, loc, isEnough,
                                                  moves ? e[1] : e[2],
                                                  moves ? e[2] : e[1]);
                 });
  };
  scf::YieldOp::create(
      b, loc, ValueRange{end(ends[0], upwards), end(ends[1], !upwards)});
  return {loop.getResult(0), loop.getResult(1)};
}

Value WindowKernel::minus(Value lhs, Value rhs) {
  return k.map(columnType, {lhs, rhs},
               [&](OpBuilder &builder, ValueRange e) -> Value {
                 return arith::SubFOp::create(builder, k.loc(), e[0], e[1]);
               });
}

Value WindowKernel::countNumbers(const Queries &queries,
                                 arith::CmpFPredicate predicate, Value bound) {
  return count(queries, {bound},
               [&](OpBuilder &builder, Value number, Value,
                   ValueRange columns) -> Value {
                 return arith::CmpFOp::create(builder, k.loc(), predicate,
                                              number, columns[0]);
               });
}

// -inf, which all keys reach, where there are fewer than `keep`. Nothing
// reaches the upper end.
Value WindowKernel::findBound(const Queries &queries, Value keep) {
  return halve(splat(columnType, -std::numeric_limits<float>::infinity()),
               splat(columnType, std::numeric_limits<float>::quiet_NaN()),
               /*steps=*/32, middle, /*upwards=*/true,
               [&](Value at) {
                 return minus(
                     countNumbers(queries, arith::CmpFPredicate::OGE, at),
                     keep);
               })
      .first;
}

// No key in sight lies at the lower end, every one up to the upper end.
Value WindowKernel::findLast(const Queries &queries, Value bound, Value left) {
  Location loc = k.loc();
  int64_t range = keysInSight();
  auto surplusAt = [&](Value at) {
    Value found =
        count(queries, {bound, at},
              [&](OpBuilder &builder, Value number, Value distance,
                  ValueRange columns) -> Value {
                Value equal = arith::CmpFOp::create(builder, loc,
                                                    arith::CmpFPredicate::OEQ,
                                                    number, columns[0]);
                Value early = arith::CmpFOp::create(
                    builder, loc, arith::CmpFPredicate::OLE,
                    asFloat(builder, loc, distance), columns[1]);
                return arith::AndIOp::create(builder, loc, equal, early);
              });
    return minus(found, left);
  };
  return halve(splat(columnType, static_cast<float>(-range)),
               splat(columnType, 0), llvm::Log2_64_Ceil(range) + 1,
               middleOfWhole, /*upwards=*/false, surplusAt)
      .second;
}

Kept WindowKernel::findKept(const Queries &queries) {
  if (!record.getKeep())
    return {};
  Value keep = splat(columnType, static_cast<float>(record.getKeep()));
  Value bound = findBound(queries, keep);
  // What is left for the keys of just this number, the earliest first.
  Value left =
      minus(keep, countNumbers(queries, arith::CmpFPredicate::OGT, bound));
  return {bound, findLast(queries, bound, left)};
}
