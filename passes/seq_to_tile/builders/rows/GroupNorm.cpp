// Norms of groups of channels. An item is one group of one row. Floor: bytes of
// x and y.
#include "passes/seq_to_tile/builders/Builders.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace effc;

// 1 / the size of a group from the sum of its squares.
static Value inverseSize(KernelBuilder &k, seq::GroupNormOp norm, Value sum,
                         int64_t width) {
  OpBuilder &b = k.ops();
  Value eps = k.scalar(norm.getEps().convertToDouble());
  auto squareRoot = [&](Value x) -> Value {
    return math::SqrtOp::create(b, k.loc(), x);
  };
  auto plusEps = [&](Value x) -> Value {
    return arith::AddFOp::create(b, k.loc(), x, eps);
  };
  Value size;
  switch (norm.getMeasure()) {
  case seq::NormMeasure::MeanSquare:
    size = squareRoot(plusEps(arith::DivFOp::create(
        b, k.loc(), sum, k.scalar(static_cast<double>(width)))));
    break;
  case seq::NormMeasure::SumSquare:
    size = squareRoot(plusEps(sum));
    break;
  case seq::NormMeasure::MaxLength:
    size = arith::MaximumFOp::create(b, k.loc(), squareRoot(sum), eps);
    break;
  }
  return arith::DivFOp::create(b, k.loc(), k.scalar(1), size);
}

LogicalResult effc::buildGroupNorm(KernelBuilder &k) {
  auto norm = cast<seq::GroupNormOp>(k.getRoot());
  int64_t groups = norm.getGroups();
  int64_t width = norm.getX().getType().getDimSize(1) / groups;
  k.setItems(k.getContext().lead, 1, groups);
  auto [row, group] = k.divide(k.item(), groups);
  Value column = k.mul(group, width);
  tile::TileType type = k.rowType(width);
  OpBuilder &b = k.ops();
  auto load = [&, row = row](Value tensor) {
    return k.load(k.read(tensor), {row, column}, {1, width}, type);
  };
  auto sum = [&](Value tile) -> Value {
    return tile::ReduceOp::create(b, k.loc(), b.getF32Type(),
                                  tile::ReduceKind::Add, tile,
                                  /*over_rows=*/false);
  };
  Value x = load(norm.getX());
  if (norm.getCentred()) {
    Value mean = arith::DivFOp::create(b, k.loc(), sum(x),
                                       k.scalar(static_cast<double>(width)));
    x = k.map(type, {x, mean}, [&](OpBuilder &builder, ValueRange e) -> Value {
      return arith::SubFOp::create(builder, k.loc(), e[0], e[1]);
    });
  }
  Value squares =
      k.map(type, {x}, [&](OpBuilder &builder, ValueRange e) -> Value {
        return arith::MulFOp::create(builder, k.loc(), e[0], e[0]);
      });
  Value scale = inverseSize(k, norm, sum(squares), width);
  // One number for each channel, or for each of a group.
  auto perChannel = [&](Value tensor) {
    bool shared =
        cast<RankedTensorType>(tensor.getType()).getDimSize(0) == width;
    return k.load(k.read(tensor), {shared ? k.index(0) : column}, {width},
                  type);
  };
  SmallVector<Value> inputs = {x, scale};
  if (norm.getWeight())
    inputs.push_back(perChannel(norm.getWeight()));
  if (norm.getBias())
    inputs.push_back(perChannel(norm.getBias()));
  Value y = k.map(type, inputs, [&](OpBuilder &builder, ValueRange e) -> Value {
    Value normed = arith::MulFOp::create(builder, k.loc(), e[0], e[1]);
    if (norm.getWeight()) {
      Value w = e[2];
      if (norm.getUnitOffset()) {
        Value one = arith::ConstantOp::create(builder, k.loc(),
                                              builder.getF32FloatAttr(1));
        w = arith::AddFOp::create(builder, k.loc(), one, w);
      }
      normed = arith::MulFOp::create(builder, k.loc(), normed, w);
    }
    if (norm.getBias())
      normed = arith::AddFOp::create(builder, k.loc(), normed, e.back());
    return normed;
  });
  return k.finish(norm.getY(), y, load,
                  [&, row = row](unsigned result, Value tile) {
                    k.store(tile, k.write(result), {row, column}, {1, width});
                  });
}
