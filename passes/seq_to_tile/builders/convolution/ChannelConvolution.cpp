// The convolution of a token's channels with one another. An item is a row, of
// which each tap reads a copy that is some channels further on. Floor: bytes of
// the rows.
#include "passes/seq_to_tile/builders/Builders.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace effc;

// Each tap is code of its own: with 4,096 of them compiling takes 20 seconds.
static constexpr int64_t kMostTaps = 256;

LogicalResult effc::buildChannelConvolution(KernelBuilder &k) {
  auto root = cast<seq::ChannelConvolutionOp>(k.getRoot());
  int64_t channels = root.getY().getType().getDimSize(1);
  // Taps are rows of x where they have been multiplied already.
  Value taps = root.getWeight() ? root.getWeight() : root.getX();
  int64_t count = cast<RankedTensorType>(taps.getType()).getDimSize(1);
  if (count > kMostTaps)
    return root.emitOpError("has a kernel for at most ")
           << kMostTaps << " taps, but got " << count;
  k.setItems(k.getContext().lead, 1, 1);
  OpBuilder &b = k.ops();
  Value row = k.item(), zero = k.index(0);
  tile::TileType type = k.rowType(channels);
  auto load = [&](Value tensor, ArrayRef<Value> at) -> Value {
    SmallVector<int64_t> sizes(at.size(), 1);
    sizes.back() = channels;
    return k.load(k.read(tensor), at, sizes, type);
  };
  auto read = [&](Value tensor, ArrayRef<Value> at) -> Value {
    return tile::ReadOp::create(b, k.loc(), b.getF32Type(), k.read(tensor),
                                ValueRange(at));
  };

  Value x = root.getWeight() ? load(root.getX(), {row, zero}) : Value();
  SmallVector<Value> inputs, weights;
  for (int64_t tap = 0; tap < count; ++tap) {
    Value ofTap = x ? x : load(root.getX(), {row, k.index(tap), zero});
    int64_t by = tap - int64_t(root.getBefore());
    inputs.push_back(
        by == 0 ? ofTap
                : Value(tile::ShiftOp::create(b, k.loc(), type, ofTap, by)));
    if (x)
      weights.push_back(read(root.getWeight(), {row, k.index(tap)}));
  }
  llvm::append_range(inputs, weights);
  inputs.push_back(root.getBias() ? read(root.getBias(), {row}) : k.scalar(0));
  Value y = k.map(type, inputs, [&](OpBuilder &builder, ValueRange e) -> Value {
    Value sum = e.back();
    for (int64_t tap = 0; tap < count; ++tap)
      sum = x ? Value(math::FmaOp::create(builder, k.loc(), e[count + tap],
                                          e[tap], sum))
              : Value(arith::AddFOp::create(builder, k.loc(), sum, e[tap]));
    return sum;
  });
  return k.finish(
      root.getY(), y, [&](Value tensor) { return load(tensor, {row, zero}); },
      [&](unsigned result, Value tile) {
        k.store(tile, k.write(result), {row, zero}, {1, channels});
      });
}
