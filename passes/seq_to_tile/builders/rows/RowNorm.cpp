// Root-mean-square norms: y = g(x) / sqrt(mean(g(x)^2) + eps) * w per group of
// channels, with g(x) = x, or x silu(gate). An item is one group of one row.
// Floor: bytes of x, gate and y.
#include "passes/seq_to_tile/builders/Builders.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/seq_to_tile/ScalarCode.h"

using namespace mlir;
using namespace effc;

LogicalResult effc::buildRowNorm(KernelBuilder &k) {
  auto root = cast<seq::RowNormOpInterface>(k.getRoot());
  double eps = root.getEps().convertToDouble();
  int64_t groups = root.getGroups();
  Value weight = root.getWeight();
  int64_t width =
      cast<RankedTensorType>(weight.getType()).getDimSize(0) / groups;
  k.setItems(k.getContext().lead, 1, groups);

  auto [row, group] = k.divide(k.item(), groups);
  Value column = k.mul(group, width);
  tile::TileType type = k.rowType(width);
  auto load = [&](Value tensor) {
    return k.load(k.read(tensor), {row, column}, {1, width}, type);
  };
  OpBuilder &b = k.ops();
  Value x = load(root.getX());
  if (Value gate = root.getGate())
    x = k.map(type, {x, load(gate)},
              [&](OpBuilder &builder, ValueRange e) -> Value {
                return arith::MulFOp::create(builder, k.loc(), e[0],
                                             emitSilu(builder, k.loc(), e[1]));
              });
  Value squares =
      k.map(type, {x}, [&](OpBuilder &builder, ValueRange e) -> Value {
        return arith::MulFOp::create(builder, k.loc(), e[0], e[0]);
      });
  Value sum = tile::ReduceOp::create(b, k.loc(), b.getF32Type(),
                                     tile::ReduceKind::Add, squares,
                                     /*over_rows=*/false);
  Value mean = arith::DivFOp::create(b, k.loc(), sum,
                                     k.scalar(static_cast<double>(width)));
  Value rootMeanSquare = math::SqrtOp::create(
      b, k.loc(), arith::AddFOp::create(b, k.loc(), mean, k.scalar(eps)));
  Value scale = arith::DivFOp::create(b, k.loc(), k.scalar(1), rootMeanSquare);
  Value w = k.load(k.read(weight), {column}, {width}, type);
  Value y = k.map(
      type, {x, scale, w}, [&](OpBuilder &builder, ValueRange e) -> Value {
        Value normed = arith::MulFOp::create(builder, k.loc(), e[0], e[1]);
        return arith::MulFOp::create(builder, k.loc(), normed, e[2]);
      });
  return k.finish(root->getResult(0), y, load,
                  [&](unsigned result, Value tile) {
                    k.store(tile, k.write(result), {row, column}, {1, width});
                  });
}
