// The short causal convolution. An item is a block of channels of one segment;
// the last W - 1 inputs are carried from row to row, from the tail at the start
// and back to it at the end. On a GPU, which has nothing else to do while it
// waits for a row, prefill takes many rows at a time. Floor: bytes of x and y,
// and of the tail in decode.
#include "passes/seq_to_tile/builders/convolution/ShortConvolution.h"

#include "passes/kernel_facts/BlockRoom.h"
#include "passes/kernel_facts/Cores.h"
#include "passes/kernel_facts/MethodSizes.h"
#include "passes/seq_to_tile/builders/Builders.h"
#include "passes/seq_to_tile/builders/convolution/ChannelBlock.h"
#include "passes/seq_to_tile/builders/convolution/ConvolvedRows.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/seq_to_tile/ScalarCode.h"

using namespace mlir;
using namespace effc;

ShortConvolution::ShortConvolution(KernelBuilder &k, seq::ShortConvolutionOp op,
                                   bool writesTail)
    : op(op), taps(op.getWeight().getType().getDimSize(0)), k(k) {
  weightView = k.read(op.getWeight());
  if (op.getBias())
    biasView = k.read(op.getBias());
  tailView =
      k.stateChannels(op.getTail(), op.getFirstChannel().value_or(0),
                      op.getWeight().getType().getDimSize(1), writesTail);
}

ShortConvolution::Channels ShortConvolution::load(tile::SegmentOp segment,
                                                  tile::TileType type,
                                                  Load load) {
  OpBuilder &b = k.ops();
  Channels channels;
  for (int64_t tap = 0; tap < taps; ++tap)
    channels.taps.push_back(loadTap(k.index(tap), load));
  channels.bias = loadBias(load);
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
  SmallVector<Value> inputs(past);
  inputs.push_back(x);
  return addTaps(channels.bias, channels.taps, inputs, /*isLast=*/true);
}

Value ShortConvolution::addTaps(Value sum, ValueRange taps, ValueRange inputs,
                                bool isLast) {
  SmallVector<Value> all(taps);
  llvm::append_range(all, inputs);
  if (sum)
    all.push_back(sum);
  return k.map(cast<tile::TileType>(inputs.back().getType()), all,
               [&](OpBuilder &builder, ValueRange e) -> Value {
                 Value total =
                     sum ? e.back()
                         : arith::ConstantOp::create(
                               builder, k.loc(), builder.getF32FloatAttr(0));
                 for (size_t tap = 0; tap < taps.size(); ++tap)
                   total = math::FmaOp::create(builder, k.loc(), e[tap],
                                               e[taps.size() + tap], total);
                 return isLast && op.getActivation() == seq::Activation::Silu
                            ? emitSilu(builder, k.loc(), total)
                            : total;
               });
}

static int64_t channelsOf(seq::ShortConvolutionOp op) {
  return op.getWeight().getType().getDimSize(1);
}

// Channels of a tile, where rows are taken in tiles; 0: they go one by one.
static int64_t tileChannelsOf(seq::ShortConvolutionOp op,
                              const KernelContext &context) {
  if (!context.isGpu() || context.kind != seq::EntryKind::Prefill)
    return 0;
  int64_t block = blockOf(channelsOf(op), kConvolutionChannels);
  return block <= kConvolutionChannels ? block : 0;
}

int64_t effc::convolutionPartsOf(seq::ShortConvolutionOp op,
                                 const CallContext &call) {
  int64_t channels = tileChannelsOf(op, call);
  if (channels == 0)
    return 1;
  int64_t blocks = channelsOf(op) / channels;
  BlockRoom room = BlockRoom::of(call.target);
  int64_t beside = residentBlocks(call.target, room.convolutionThreads(),
                                  kConvolutionRegisters);
  // Not more than cores have at once: the rest would be a wave of its own.
  int64_t wanted = coresOf(call.target) * beside / blocks;
  int64_t tiles =
      llvm::divideCeil(call.entry.getRows(), room.convolutionRows());
  return std::clamp<int64_t>(wanted, 1, tiles);
}

// Blocks of whole channels: no tile ends inside of a splice. Parts take tiles by
// turns, whatever the length; the first one, which alone meets the tail, also
// writes the next.
static LogicalResult buildTiles(KernelBuilder &k, seq::ShortConvolutionOp root,
                                int64_t channels, int64_t parts) {
  ChannelBlock block(k, channelsOf(root), channels, parts);
  tile::SegmentOp segment = block.segment;
  ConvolvedRows rows(k, root, segment, block.first, channels,
                     /*writesTail=*/true);
  OpBuilder &b = k.ops();
  int64_t together = BlockRoom::of(k.getContext().target).convolutionRows();
  {
    Value first = block.part ? k.mul(block.part, together) : k.index(0);
    auto loop = scf::ForOp::create(b, k.loc(), first, segment.getLength(),
                                   k.index(parts * together));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value start = loop.getInductionVar();
    Value row = k.add(segment.getFirstRow(), start);
    Value limit = k.min(k.sub(segment.getLength(), start), k.index(together));
    Value y = rows.load(row, limit, together);
    auto type = cast<tile::TileType>(y.getType());
    SmallVector<Value> at = {row, block.first};
    SmallVector<int64_t> sizes = {together, channels};
    if (failed(k.finish(
            root.getY(), y,
            [&](Value tensor) {
              return k.load(k.read(tensor), at, sizes, type, limit);
            },
            [&](unsigned index, Value finished) {
              k.store(finished, k.write(index), at, sizes, limit);
            })))
      return failure();
  }
  rows.storeTail(block.part);
  return success();
}

LogicalResult effc::buildShortConvolution(KernelBuilder &k) {
  auto root = cast<seq::ShortConvolutionOp>(k.getRoot());
  if (int64_t channels = tileChannelsOf(root, k.getContext()))
    return buildTiles(k, root, channels, k.getContext().sizes.convolutionParts);
  int64_t count = channelsOf(root);
  Value xView = k.read(root.getX());
  ShortConvolution convolution(k, root);
  ChannelBlock block(k, count, kConvolutionChannels);
  tile::SegmentOp segment = block.segment;

  OpBuilder &b = k.ops();
  ShortConvolution::Channels channels = convolution.load(
      segment, block.type,
      [&](Value view, ArrayRef<Value> at) { return block.load(view, at); });
  auto finishRow = [&](Value row, ValueRange past) -> FailureOr<Value> {
    Value x = block.load(xView, {row});
    Value y = convolution.convolve(channels, past, x);
    if (failed(block.finish(root.getY(), y, row)))
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
