// Writes a call's tokens into the states that keep one row per token, once all
// items of the launch before have read them. Floor: the bytes of what is
// written.
#include "passes/seq_to_tile/builders/Window.h"

using namespace mlir;
using namespace effc;

/// Shares of a segment's rows: enough for the cores of a machine where a call
/// has one segment.
static constexpr int64_t kItems = 8;

/// Writes each token tensor into its state, at its position modulo the state's
/// rows, which are as many in all of them.
static LogicalResult
appendRows(KernelBuilder &k, ArrayRef<std::pair<Value, Value>> tokensAndState) {
  // Rows are dealt out, since a segment may be a whole call.
  int64_t parts = k.isDecode() ? 1 : kItems;
  k.setItems(tile::Count::Segments, 1, parts);
  OpBuilder &b = k.ops();
  auto [sequence, part] = k.divide(k.item(), parts);
  auto segment =
      tile::SegmentOp::create(b, k.loc(), k.segmentTable(), sequence);
  auto shapeOf = [](Value state) {
    return cast<RankedTensorType>(state.getType()).getShape();
  };
  int64_t rows = shapeOf(tokensAndState.front().second)[0];
  auto append = [&](Value t) {
    Value at = k.divide(k.add(segment.getStart(), t), rows).second;
    for (auto [tensor, state] : tokensAndState) {
      // A row of heads and channels, or of numbers.
      ArrayRef<int64_t> shape = shapeOf(state).drop_front();
      SmallVector<Value> from = {k.add(segment.getFirstRow(), t)};
      SmallVector<Value> to = {segment.getSlot(), at};
      SmallVector<int64_t> rowSizes = {1}, stateSizes = {1, 1};
      from.append(shape.size(), k.index(0));
      to.append(shape.size(), k.index(0));
      rowSizes.append(shape.begin(), shape.end());
      stateSizes.append(shape.begin(), shape.end());
      Value tile = k.load(k.read(tensor), from, rowSizes,
                          shape.size() == 1 ? k.rowType(shape[0])
                                            : k.blockType(shape[0], shape[1],
                                                          tile::Role::Operand));
      k.store(tile, k.readWriteState(state), to, stateSizes);
    }
  };
  if (k.isDecode()) {
    append(k.index(0));
    return success();
  }
  // Of more tokens than the state has rows, the last ones stay.
  Value first = arith::MaxSIOp::create(
      b, k.loc(), k.index(0), k.sub(segment.getLength(), k.index(rows)));
  auto loop = scf::ForOp::create(b, k.loc(), k.add(first, part),
                                 segment.getLength(), k.index(parts));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  append(loop.getInductionVar());
  return success();
}

LogicalResult effc::buildWindowAppend(KernelBuilder &k) {
  auto mixer = cast<seq::MixerOpInterface>(k.getCore());
  seq::WindowTokens tokens = windowTokensOf(mixer);
  SmallVector<std::pair<Value, Value>> written = {
      {tokens.key, windowStateOf(mixer, tokens.keyState)},
      {tokens.value, windowStateOf(mixer, tokens.valueState)}};
  if (tokens.keyScore)
    written.push_back(
        {tokens.keyScore, windowStateOf(mixer, tokens.keyScoreState)});
  return appendRows(k, written);
}

LogicalResult effc::buildCausalAppend(KernelBuilder &k) {
  auto core = cast<seq::CausalMixOp>(k.getCore());
  return appendRows(k, {{core.getX(), core.getInputs()}});
}
