// The best rows of each head and their weights. An item is one head of one row.
// Floor: bytes of the scores, and of what they are chosen by.
#include "passes/seq_to_tile/ScalarCode.h"
#include "passes/seq_to_tile/builders/Builders.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace effc;

namespace {
/// The largest element of a row, and the sum of the exponentials of what the
/// elements are below it.
struct RowTotal {
  Value highest, sum;
};
} // namespace

static Value exponentials(KernelBuilder &k, Value row, Value highest) {
  return k.map(cast<tile::TileType>(row.getType()), {row, highest},
               [&](OpBuilder &builder, ValueRange e) -> Value {
                 Value below =
                     arith::SubFOp::create(builder, k.loc(), e[0], e[1]);
                 return math::ExpOp::create(builder, k.loc(), below);
               });
}

static Value reduce(KernelBuilder &k, tile::ReduceKind kind, Value row) {
  return tile::ReduceOp::create(k.ops(), k.loc(), k.ops().getF32Type(), kind,
                                row, /*over_rows=*/false);
}

static RowTotal total(KernelBuilder &k, Value row) {
  Value highest = reduce(k, tile::ReduceKind::Max, row);
  Value sum = reduce(k, tile::ReduceKind::Add, exponentials(k, row, highest));
  return {highest, sum};
}

// score / (1e-20 + sum)
static Value plainShares(KernelBuilder &k, Value chosen) {
  OpBuilder &b = k.ops();
  Value sum = arith::AddFOp::create(
      b, k.loc(), reduce(k, tile::ReduceKind::Add, chosen), k.scalar(1e-20));
  return k.map(cast<tile::TileType>(chosen.getType()), {chosen, sum},
               [&](OpBuilder &builder, ValueRange e) -> Value {
                 return arith::DivFOp::create(builder, k.loc(), e[0], e[1]);
               });
}

// exp(score - highest) / sum; of two axes the highest and the sum over all
// pairs are the sum and the product of those of the axes.
static Value shares(KernelBuilder &k, Value chosen, ArrayRef<Value> over) {
  RowTotal all = total(k, over.front());
  for (Value axis : over.drop_front()) {
    RowTotal other = total(k, axis);
    all.highest =
        arith::AddFOp::create(k.ops(), k.loc(), all.highest, other.highest);
    all.sum = arith::MulFOp::create(k.ops(), k.loc(), all.sum, other.sum);
  }
  return k.map(cast<tile::TileType>(chosen.getType()),
               {exponentials(k, chosen, all.highest), all.sum},
               [&](OpBuilder &builder, ValueRange e) -> Value {
                 return arith::DivFOp::create(builder, k.loc(), e[0], e[1]);
               });
}

static Value weigh(KernelBuilder &k, seq::RetrievalWeighting weighting,
                   Value chosen, ArrayRef<Value> axes) {
  auto each = [&](seq::Nonlinearity kind) {
    return k.map(cast<tile::TileType>(chosen.getType()), {chosen},
                 [&](OpBuilder &builder, ValueRange e) {
                   return emitNonlinearity(builder, k.loc(), kind, e[0]);
                 });
  };
  switch (weighting) {
  case seq::RetrievalWeighting::Softmax:
    return shares(k, chosen, chosen);
  case seq::RetrievalWeighting::SoftmaxAll:
    return shares(k, chosen, axes);
  case seq::RetrievalWeighting::Sigmoid:
    return each(seq::Nonlinearity::Sigmoid);
  case seq::RetrievalWeighting::Relu:
    return each(seq::Nonlinearity::Relu);
  case seq::RetrievalWeighting::Score:
    return each(seq::Nonlinearity::Identity);
  case seq::RetrievalWeighting::Share:
    return plainShares(k, chosen);
  }
  llvm_unreachable("a weighting of no kind");
}

LogicalResult effc::buildChooseRows(KernelBuilder &k) {
  auto choose = cast<seq::ChooseRowsOp>(k.getRoot());
  ArrayRef<int64_t> shape = choose.getScores().getType().getShape();
  int64_t axisCount = shape[1], heads = shape[2], keys = shape[3];
  int64_t count = choose.getTopK();
  k.setItems(k.getContext().lead, 1, heads);
  auto [row, head] = k.divide(k.item(), heads);
  auto load = [&, row = row, head = head](Value view, int64_t axis) {
    return k.load(view, {row, k.index(axis), head, k.index(0)}, {1, 1, 1, keys},
                  k.rowType(keys));
  };
  Value scores = k.read(choose.getScores());
  SmallVector<Value> axes;
  for (int64_t axis = 0; axis < axisCount; ++axis)
    axes.push_back(load(scores, axis));
  OpBuilder &b = k.ops();
  tile::TileType valuesType = k.rowType(count);
  auto numbersType = tile::TileType::get(b.getContext(), {count},
                                         b.getI32Type(), tile::Role::Row, {});
  Value order = choose.getOrder();
  SmallVector<Value> ordered = axes;
  if (order)
    ordered = {load(k.read(order), 0)};
  auto top = tile::TopKOp::create(b, k.loc(), valuesType, numbersType, ordered);
  Value chosen = top.getValues();
  if (order)
    chosen = tile::TakeOp::create(b, k.loc(), valuesType, axes.front(),
                                  top.getNumbers());
  Value weights = weigh(k, choose.getWeighting(), chosen, axes);

  Value first = k.mul(head, count);
  SmallVector<int64_t> sizes = {1, count};
  Operation *results = k.getSourceBody().getTerminator();
  for (auto [i, result] : llvm::enumerate(results->getOperands()))
    if (result == choose.getRows())
      k.store(top.getNumbers(), k.write(i), {row, first}, sizes);
  return k.finish(
      choose.getWeights(), weights,
      [&](Value tensor) {
        return k.load(k.read(tensor), {row, first}, sizes, valuesType);
      },
      [&](unsigned result, Value tile) {
        k.store(tile, k.write(result), {row, first}, sizes);
      });
}
