// The short causal convolution. An item is a block of channels of one segment;
// the last W - 1 inputs are carried from row to row, from the tail at the start
// and back to it at the end. Floor: bytes of x and y, and of the tail in
// decode.
#include "passes/seq_to_tile/builders/ShortConvolution.h"

#include "passes/seq_to_tile/builders/Builders.h"
#include "passes/seq_to_tile/builders/ChannelBlock.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/seq_to_tile/ScalarCode.h"

using namespace mlir;
using namespace effc;

// Four vectors of channels: with the taps and the carried inputs they fill the
// registers of the host.
static constexpr int64_t kChannels = 32;

ShortConvolution::ShortConvolution(KernelBuilder &k, seq::ShortConvolutionOp op)
    : op(op), k(k), taps(op.getWeight().getType().getDimSize(0)) {
  weightView = k.read(op.getWeight());
  if (op.getBias())
    biasView = k.read(op.getBias());
  tailView = k.readWriteState(op.getTail());
}

ShortConvolution::Channels ShortConvolution::load(tile::SegmentOp segment,
                                                  tile::TileType type,
                                                  Load load) {
  OpBuilder &b = k.ops();
  Channels channels;
  for (int64_t tap = 0; tap < taps; ++tap)
    channels.taps.push_back(load(weightView, {k.index(tap)}));
  if (biasView)
    channels.bias = load(biasView, {});
  Value fresh = arith::SelectOp::create(b, k.loc(), segment.getBegins(),
                                        k.scalar(1), k.scalar(0));
  for (int64_t i = 0; i + 1 < taps; ++i) {
    Value old = load(tailView, {segment.getSlot(), k.index(i)});
    channels.past.push_back(k.map(
        type, {old, fresh}, [&](OpBuilder &builder, ValueRange e) -> Value {
          Value zero = arith::ConstantOp::create(builder, k.loc(),
                                                 builder.getF32FloatAttr(0));
          Value isFresh = arith::CmpFOp::create(
              builder, k.loc(), arith::CmpFPredicate::OGT, e[1], zero);
          return arith::SelectOp::create(builder, k.loc(), isFresh, zero, e[0]);
        }));
  }
  return channels;
}

Value ShortConvolution::convolve(const Channels &channels, ValueRange past,
                                 Value x) {
  SmallVector<Value> inputs(channels.taps);
  llvm::append_range(inputs, past);
  inputs.push_back(x);
  if (channels.bias)
    inputs.push_back(channels.bias);
  return k.map(cast<tile::TileType>(x.getType()), inputs,
               [&](OpBuilder &builder, ValueRange e) -> Value {
                 Value sum = channels.bias ? e.back()
                                           : arith::ConstantOp::create(
                                                 builder, k.loc(),
                                                 builder.getF32FloatAttr(0));
                 for (int64_t tap = 0; tap < taps; ++tap)
                   sum = math::FmaOp::create(builder, k.loc(), e[tap],
                                             e[taps + tap], sum);
                 return op.getActivation() == seq::Activation::Silu
                            ? emitSilu(builder, k.loc(), sum)
                            : sum;
               });
}

LogicalResult effc::buildShortConvolution(KernelBuilder &k) {
  auto core = cast<seq::ShortConvolutionOp>(k.getCore());
  Value xView = k.read(core.getX());
  ShortConvolution convolution(k, core);
  ChannelBlock block(k, core.getWeight().getType().getDimSize(1), kChannels);
  tile::SegmentOp segment = block.segment;

  OpBuilder &b = k.ops();
  ShortConvolution::Channels channels = convolution.load(
      segment, block.type,
      [&](Value view, ArrayRef<Value> at) { return block.load(view, at); });
  auto finishRow = [&](Value row, ValueRange past) -> FailureOr<Value> {
    Value x = block.load(xView, {row});
    Value y = convolution.convolve(channels, past, x);
    if (failed(block.finish(core.getY(), y, row)))
      return failure();
    return x;
  };

  SmallVector<Value> last;
  if (k.isDecode()) {
    FailureOr<Value> x = finishRow(segment.getFirstRow(), channels.past);
    if (failed(x))
      return failure();
    last.assign(channels.past.begin() + 1, channels.past.end());
    last.push_back(*x);
  } else {
    auto loop = scf::ForOp::create(b, k.loc(), k.index(0), segment.getLength(),
                                   k.index(1), channels.past);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    FailureOr<Value> x =
        finishRow(k.add(segment.getFirstRow(), loop.getInductionVar()),
                  loop.getRegionIterArgs());
    if (failed(x))
      return failure();
    SmallVector<Value> next(loop.getRegionIterArgs().drop_front());
    next.push_back(*x);
    scf::YieldOp::create(b, k.loc(), next);
    last = SmallVector<Value>(loop.getResults());
  }
  for (auto [i, tile] : llvm::enumerate(last))
    block.store(tile, convolution.tailView, {segment.getSlot(), k.index(i)});
  return success();
}
