// The weights that a row's numbers stand for. An item is one row, of one head
// where there are heads. Floor: bytes of x and y.
#include "passes/seq_to_tile/builders/Builders.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace effc;

LogicalResult effc::buildSoftmax(KernelBuilder &k) {
  auto softmax = cast<seq::SoftmaxOp>(k.getRoot());
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(softmax.getX().getType()).getShape();
  if (shape.size() != 2 && shape.size() != 3)
    return softmax.emitOpError()
           << "expects rows, or rows of heads, in a kernel of its own, but got "
           << softmax.getX().getType();
  int64_t heads = shape.size() == 3 ? shape[1] : 1, width = shape.back();
  k.setItems(k.getContext().lead, 1, heads);
  auto [row, head] = k.divide(k.item(), heads);
  SmallVector<Value> at = {row};
  SmallVector<int64_t> sizes = {1};
  if (shape.size() == 3) {
    at.push_back(head);
    sizes.push_back(1);
  }
  at.push_back(k.index(0));
  sizes.push_back(width);
  tile::TileType type = k.rowType(width);
  auto load = [&](Value tensor) {
    return k.load(k.read(tensor), at, sizes, type);
  };
  OpBuilder &b = k.ops();
  auto reduce = [&](tile::ReduceKind kind, Value tile) -> Value {
    return tile::ReduceOp::create(b, k.loc(), b.getF32Type(), kind, tile,
                                  /*over_rows=*/false);
  };
  Value x = load(softmax.getX());
  Value largest = reduce(tile::ReduceKind::Max, x);
  Value powers =
      k.map(type, {x, largest}, [&](OpBuilder &builder, ValueRange e) -> Value {
        Value below = arith::SubFOp::create(builder, k.loc(), e[0], e[1]);
        return math::ExpOp::create(builder, k.loc(), below);
      });
  Value sum = reduce(tile::ReduceKind::Add, powers);
  Value y = k.map(type, {powers, sum},
                  [&](OpBuilder &builder, ValueRange e) -> Value {
                    return arith::DivFOp::create(builder, k.loc(), e[0], e[1]);
                  });
  return k.finish(softmax.getY(), y, load, [&](unsigned result, Value tile) {
    k.store(tile, k.write(result), at, sizes);
  });
}
