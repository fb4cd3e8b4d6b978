// Products of elements without a sum: each of two tensors has some of the
// result's dimensions. An item is a row of the result, for each index of the
// dimensions between. Floor: bytes of the rows.
#include "passes/seq_to_tile/builders/Builders.h"

using namespace mlir;
using namespace effc;

// Whether `map` gives some of its dimensions, each at most once, in their
// order.
static bool isChoice(AffineMap map) {
  int64_t last = -1;
  for (AffineExpr expression : map.getResults()) {
    auto dimension = dyn_cast<AffineDimExpr>(expression);
    if (!dimension || int64_t(dimension.getPosition()) <= last)
      return false;
    last = dimension.getPosition();
  }
  return true;
}

LogicalResult effc::buildProduct(KernelBuilder &k) {
  auto root = cast<seq::ContractOp>(k.getRoot());
  SmallVector<AffineMap> maps(
      root.getIndexingMaps().getAsValueRange<AffineMapAttr>());
  if (!maps[2].isIdentity() || !isChoice(maps[0]) || !isChoice(maps[1]))
    return root.emitOpError("has a kernel only where it sums over nothing and "
                            "its tensors have the result's order");
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(root.getOut().getType()).getShape();
  int64_t rank = int64_t(shape.size()), between = 1;
  for (int64_t size : shape.drop_front().drop_back())
    between *= size;
  k.setItems(k.getContext().lead, 1, between);
  auto [row, rest] = k.divide(k.item(), between);
  SmallVector<Value> at(size_t(rank), row);
  at.back() = k.index(0);
  Value index = rest;
  for (int64_t axis = rank - 2; axis > 0; --axis) {
    auto [quotient, remainder] = k.divide(index, shape[axis]);
    at[size_t(axis)] = remainder;
    index = quotient;
  }
  tile::TileType type = k.rowType(shape.back());
  OpBuilder &b = k.ops();
  auto load = [&](Value tensor, AffineMap map) -> Value {
    SmallVector<Value> indices;
    for (AffineExpr expression : map.getResults())
      indices.push_back(at[cast<AffineDimExpr>(expression).getPosition()]);
    bool alongRow = map.getResult(map.getNumResults() - 1) ==
                    getAffineDimExpr(unsigned(rank - 1), root.getContext());
    if (!alongRow)
      return tile::ReadOp::create(b, k.loc(), b.getF32Type(), k.read(tensor),
                                  indices);
    SmallVector<int64_t> sizes(indices.size(), 1);
    sizes.back() = shape.back();
    return k.load(k.read(tensor), indices, sizes, type);
  };
  Value y =
      k.map(type, {load(root.getLhs(), maps[0]), load(root.getRhs(), maps[1])},
            [&](OpBuilder &builder, ValueRange e) -> Value {
              return arith::MulFOp::create(builder, k.loc(), e[0], e[1]);
            });
  return k.finish(
      root.getOut(), y, [&](Value tensor) { return load(tensor, maps[2]); },
      [&](unsigned result, Value tile) {
        SmallVector<int64_t> sizes(size_t(rank), 1);
        sizes.back() = shape.back();
        k.store(tile, k.write(result), at, sizes);
      });
}
