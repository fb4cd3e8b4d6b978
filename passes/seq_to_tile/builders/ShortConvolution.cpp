// The short causal convolution. An item is a block of channels of one segment;
// the last W - 1 inputs are carried from row to row, from the tail at the start
// and back to it at the end. Floor: bytes of x and y, and of the tail in
// decode.
#include "passes/seq_to_tile/builders/Builders.h"
#include "passes/seq_to_tile/builders/ChannelBlock.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/seq_to_tile/ScalarCode.h"

using namespace mlir;
using namespace effc;

// Four vectors of channels: with the taps and the carried inputs they fill the
// registers of the host.
static constexpr int64_t kChannels = 32;

LogicalResult effc::buildShortConvolution(KernelBuilder &k) {
  auto core = cast<seq::ShortConvolutionOp>(k.getCore());
  auto weightType = cast<RankedTensorType>(core.getWeight().getType());
  int64_t taps = weightType.getDimSize(0);
  Value xView = k.read(core.getX()), wView = k.read(core.getWeight());
  Value biasView = core.getBias() ? k.read(core.getBias()) : Value();
  Value tailView = k.readWriteState(core.getTail());
  ChannelBlock block(k, weightType.getDimSize(1), kChannels);
  tile::SegmentOp segment = block.segment;

  OpBuilder &b = k.ops();
  SmallVector<Value> weights;
  for (int64_t tap = 0; tap < taps; ++tap)
    weights.push_back(block.load(wView, {k.index(tap)}));
  Value bias = biasView ? block.load(biasView) : Value();
  // A sequence that begins here has a tail of zeros, whatever the slot holds.
  Value fresh = arith::SelectOp::create(b, k.loc(), segment.getBegins(),
                                        k.scalar(1), k.scalar(0));
  SmallVector<Value> window;
  for (int64_t i = 0; i + 1 < taps; ++i) {
    Value old = block.load(tailView, {segment.getSlot(), k.index(i)});
    window.push_back(k.map(
        block.type, {old, fresh},
        [&](OpBuilder &builder, ValueRange e) -> Value {
          Value zero = arith::ConstantOp::create(builder, k.loc(),
                                                 builder.getF32FloatAttr(0));
          Value isFresh = arith::CmpFOp::create(
              builder, k.loc(), arith::CmpFPredicate::OGT, e[1], zero);
          return arith::SelectOp::create(builder, k.loc(), isFresh, zero, e[0]);
        }));
  }
  auto finishRow = [&](Value row, ValueRange past) -> FailureOr<Value> {
    Value x = block.load(xView, {row});
    SmallVector<Value> inputs(weights);
    llvm::append_range(inputs, past);
    inputs.push_back(x);
    if (bias)
      inputs.push_back(bias);
    Value y = k.map(
        block.type, inputs, [&](OpBuilder &builder, ValueRange e) -> Value {
          Value sum = bias ? e.back()
                           : arith::ConstantOp::create(
                                 builder, k.loc(), builder.getF32FloatAttr(0));
          for (int64_t tap = 0; tap < taps; ++tap)
            sum = math::FmaOp::create(builder, k.loc(), e[tap], e[taps + tap],
                                      sum);
          return core.getActivation() == seq::Activation::Silu
                     ? emitSilu(builder, k.loc(), sum)
                     : sum;
        });
    if (failed(block.finish(core.getY(), y, row)))
      return failure();
    return x;
  };

  SmallVector<Value> last;
  if (k.isDecode()) {
    FailureOr<Value> x = finishRow(segment.getFirstRow(), window);
    if (failed(x))
      return failure();
    last.assign(window.begin() + 1, window.end());
    last.push_back(*x);
  } else {
    auto loop = scf::ForOp::create(b, k.loc(), k.index(0), segment.getLength(),
                                   k.index(1), window);
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
    block.store(tile, tailView, {segment.getSlot(), k.index(i)});
  return success();
}
