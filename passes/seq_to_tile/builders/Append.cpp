// Writes a call's keys and values into the rings, once all items of the launch
// before have read them. Floor: the bytes of what is written.
#include "passes/seq_to_tile/builders/Window.h"

using namespace mlir;
using namespace effc;

/// Shares of a segment's rows: enough for the cores of a machine where a call
/// has one segment.
static constexpr int64_t kItems = 8;

LogicalResult effc::buildWindowAppend(KernelBuilder &k) {
  auto mixer = cast<seq::MixerOpInterface>(k.getCore());
  seq::WindowTokens tokens = windowTokensOf(mixer);
  // Rows are dealt out, since a segment may be a whole call.
  int64_t parts = k.isDecode() ? 1 : kItems;
  k.setItems(tile::Count::Segments, 1, parts);
  OpBuilder &b = k.ops();
  auto [sequence, part] = k.divide(k.item(), parts);
  auto segment =
      tile::SegmentOp::create(b, k.loc(), k.segmentTable(), sequence);
  SmallVector<std::pair<Value, Value>> written = {
      {tokens.key, windowStateOf(mixer, tokens.keyState)},
      {tokens.value, windowStateOf(mixer, tokens.valueState)}};
  if (tokens.keyScore)
    written.push_back(
        {tokens.keyScore, windowStateOf(mixer, tokens.keyScoreState)});
  auto shapeOf = [](Value state) {
    return cast<RankedTensorType>(state.getType()).getShape();
  };
  int64_t ringRows = shapeOf(written[0].second)[0];
  auto append = [&](Value t) {
    Value at = k.divide(k.add(segment.getStart(), t), ringRows).second;
    for (auto [tensor, state] : written) {
      // A row of heads and channels, or of numbers.
      ArrayRef<int64_t> shape = shapeOf(state).drop_front();
      SmallVector<Value> from = {k.add(segment.getFirstRow(), t)};
      SmallVector<Value> to = {segment.getSlot(), at};
      SmallVector<int64_t> rowSizes = {1}, ringSizes = {1, 1};
      from.append(shape.size(), k.index(0));
      to.append(shape.size(), k.index(0));
      rowSizes.append(shape.begin(), shape.end());
      ringSizes.append(shape.begin(), shape.end());
      Value tile = k.load(k.read(tensor), from, rowSizes,
                          shape.size() == 1 ? k.rowType(shape[0])
                                            : k.blockType(shape[0], shape[1],
                                                          tile::Role::Operand));
      k.store(tile, k.readWriteState(state), to, ringSizes);
    }
  };
  if (k.isDecode()) {
    append(k.index(0));
    return success();
  }
  // Of more rows than the ring has, the last ones stay.
  Value first = arith::MaxSIOp::create(
      b, k.loc(), k.index(0), k.sub(segment.getLength(), k.index(ringRows)));
  auto loop = scf::ForOp::create(b, k.loc(), k.add(first, part),
                                 segment.getLength(), k.index(parts));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  append(loop.getInductionVar());
  return success();
}
