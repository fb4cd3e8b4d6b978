// Sums of all tokens so far, a weight per pair of positions. An item is a block
// of channels of one segment. Tokens before the call lie in the state, those of
// the call in its rows, and the order of a sum is that of the positions: its
// bits do not depend on where a call begins. Floor: bytes of the tokens so far
// (decode), 2 p D FLOPs per token at position p (prefill).
#include "passes/seq_to_tile/builders/Builders.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace effc;

// Channels of an item: four vectors of sums, as many weights are read for them.
static constexpr int64_t kChannels = 128;
// Items that the rows of one segment are dealt out to in buildCausalAppend.
static constexpr int64_t kParts = 8;

LogicalResult effc::buildCausalMix(KernelBuilder &k) {
  auto core = cast<seq::CausalMixOp>(k.getCore());
  int64_t channels = core.getX().getType().getDimSize(1);
  int64_t block = std::min(channels, kChannels),
          blocks = (channels + block - 1) / block;
  k.setItems(tile::Count::Segments, 1, blocks);
  Value xView = k.read(core.getX()), weightView = k.read(core.getWeight());
  Value biasView = core.getBias() ? k.read(core.getBias()) : Value();
  Value inputsView = k.read(core.getInputs());

  OpBuilder &b = k.ops();
  auto [sequence, channelBlock] = k.divide(k.item(), blocks);
  Value first = k.mul(channelBlock, block);
  Value columns = channels % block == 0
                      ? Value()
                      : k.min(k.sub(k.index(channels), first), k.index(block));
  auto segment =
      tile::SegmentOp::create(b, k.loc(), k.segmentTable(), sequence);
  tile::TileType type = k.rowType(block);

  // sum + weight[position, s] row(s) for s in [from, to).
  auto addRows = [&](Value sum, Value position, Value from, Value to,
                     function_ref<Value(Value)> row) -> Value {
    auto loop =
        scf::ForOp::create(b, k.loc(), from, to, k.index(1), ValueRange{sum});
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value s = loop.getInductionVar();
    Value weight = tile::ReadOp::create(b, k.loc(), b.getF32Type(), weightView,
                                        ValueRange{position, s});
    Value next =
        k.map(type, {weight, row(s), loop.getRegionIterArgs()[0]},
              [&](OpBuilder &builder, ValueRange e) -> Value {
                return math::FmaOp::create(builder, k.loc(), e[0], e[1], e[2]);
              });
    scf::YieldOp::create(b, k.loc(), next);
    return loop.getResult(0);
  };
  auto mixRow = [&](Value t) -> LogicalResult {
    Value start = segment.getStart(), position = k.add(start, t);
    Value bias = biasView ? Value(tile::ReadOp::create(
                                b, k.loc(), b.getF32Type(), biasView, position))
                          : k.scalar(0);
    Value sum = tile::SplatOp::create(b, k.loc(), type, bias);
    sum = addRows(sum, position, k.index(0), start, [&](Value s) {
      return k.load(inputsView, {segment.getSlot(), s, first}, {1, 1, block},
                    type, {}, columns);
    });
    sum = addRows(
        sum, position, start, k.add(position, k.index(1)), [&](Value s) {
          Value row = k.add(segment.getFirstRow(), k.sub(s, start));
          return k.load(xView, {row, first}, {1, block}, type, {}, columns);
        });
    Value row = k.add(segment.getFirstRow(), t);
    return k.finish(
        core.getY(), sum,
        [&](Value tensor) {
          return k.load(k.read(tensor), {row, first}, {1, block}, type, {},
                        columns);
        },
        [&](unsigned result, Value tile) {
          k.store(tile, k.write(result), {row, first}, {1, block}, {}, columns);
        });
  };
  if (k.isDecode())
    return mixRow(k.index(0));
  auto loop = scf::ForOp::create(b, k.loc(), k.index(0), segment.getLength(),
                                 k.index(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  return mixRow(loop.getInductionVar());
}

LogicalResult effc::buildCausalAppend(KernelBuilder &k) {
  auto core = cast<seq::CausalMixOp>(k.getCore());
  int64_t channels = core.getX().getType().getDimSize(1);
  int64_t parts = k.isDecode() ? 1 : kParts;
  k.setItems(tile::Count::Segments, 1, parts);
  OpBuilder &b = k.ops();
  Value xView = k.read(core.getX());
  Value inputsView = k.readWriteState(core.getInputs());
  auto [sequence, part] = k.divide(k.item(), parts);
  auto segment =
      tile::SegmentOp::create(b, k.loc(), k.segmentTable(), sequence);
  auto append = [&](Value t) {
    Value tile = k.load(xView, {k.add(segment.getFirstRow(), t), k.index(0)},
                        {1, channels}, k.rowType(channels));
    k.store(tile, inputsView,
            {segment.getSlot(), k.add(segment.getStart(), t), k.index(0)},
            {1, 1, channels});
  };
  if (k.isDecode()) {
    append(k.index(0));
    return success();
  }
  auto loop =
      scf::ForOp::create(b, k.loc(), part, segment.getLength(), k.index(parts));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  append(loop.getInductionVar());
  return success();
}
