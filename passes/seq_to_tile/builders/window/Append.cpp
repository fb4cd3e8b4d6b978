// Writes a call's tokens into the states that keep one row per token, once all
// items of the launch before have read them. Floor: the bytes of what is
// written.
#include "passes/seq_to_tile/builders/window/Window.h"

#include "passes/kernel_facts/Cores.h"

using namespace mlir;
using namespace effc;

/// Shares of a segment's rows: enough for the cores of a machine where a call
/// has one segment.
static int64_t itemsOf(const KernelContext &context) {
  return context.kind == seq::EntryKind::Decode ? 1 : coresOf(context.target);
}

namespace {
/// A token tensor and the state that keeps its rows.
struct Written {
  Value tokens, state;
  /// A row of heads and channels, or of numbers.
  ArrayRef<int64_t> rowShape() const {
    return cast<RankedTensorType>(state.getType()).getShape().drop_front();
  }
  int64_t rows() const {
    return cast<RankedTensorType>(state.getType()).getShape().front();
  }
};

class AppendKernel {
public:
  /// One item's token of a decode call.
  AppendKernel(KernelBuilder &k, tile::SegmentOp segment)
      : k(k), b(k.ops()), parts(1), part(k.index(0)), segment(segment) {}
  explicit AppendKernel(KernelBuilder &k) : k(k), b(k.ops()) {
    // Rows are dealt out, since a segment may be a whole call.
    parts = itemsOf(k.getContext());
    k.setItems(tile::Count::Segments, 1, parts);
    auto [sequence, rest] = k.divide(k.item(), parts);
    part = rest;
    segment = tile::SegmentOp::create(b, k.loc(), k.segmentTable(), sequence);
  }

  /// Writes each token into row `position mod rows` of states that have equally
  /// many.
  void appendRing(ArrayRef<Written> written);
  /// Writes the tokens at the first positions, one for each row of states that
  /// have equally many; where the sequence begins, rows that none of the call's
  /// tokens has become 0.
  void appendFirst(ArrayRef<Written> written);

private:
  tile::TileType rowType(const Written &written);
  void writeRow(const Written &written, Value row, Value tile);
  /// A token of the call into a row of a state.
  void copyRow(const Written &written, Value token, Value row);
  void forRows(Value from, Value to, function_ref<void(Value)> body);

  KernelBuilder &k;
  OpBuilder &b;
  int64_t parts;
  Value part;
  tile::SegmentOp segment;
};
} // namespace

// A row of heads and channels is a block, one of numbers a row.
tile::TileType AppendKernel::rowType(const Written &written) {
  ArrayRef<int64_t> shape = written.rowShape();
  return shape.size() == 1
             ? k.rowType(shape[0])
             : k.blockType(shape[0], shape[1], tile::Role::Operand);
}

void AppendKernel::writeRow(const Written &written, Value row, Value tile) {
  ArrayRef<int64_t> shape = written.rowShape();
  SmallVector<Value> to = {segment.getSlot(), row};
  SmallVector<int64_t> sizes = {1, 1};
  to.append(shape.size(), k.index(0));
  sizes.append(shape.begin(), shape.end());
  k.store(tile, k.readWriteState(written.state), to, sizes);
}

void AppendKernel::copyRow(const Written &written, Value token, Value row) {
  ArrayRef<int64_t> shape = written.rowShape();
  SmallVector<Value> from = {k.add(segment.getFirstRow(), token)};
  SmallVector<int64_t> sizes = {1};
  from.append(shape.size(), k.index(0));
  sizes.append(shape.begin(), shape.end());
  writeRow(written, row,
           k.load(k.read(written.tokens), from, sizes, rowType(written)));
}

// This item's share of some rows.
void AppendKernel::forRows(Value from, Value to,
                           function_ref<void(Value)> body) {
  auto loop =
      scf::ForOp::create(b, k.loc(), k.add(from, part), to, k.index(parts));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void AppendKernel::appendRing(ArrayRef<Written> written) {
  int64_t rows = written.front().rows();
  auto append = [&](Value token) {
    Value row = k.divide(k.add(segment.getStart(), token), rows).second;
    for (const Written &each : written)
      copyRow(each, token, row);
  };
  if (k.isDecode())
    return append(k.index(0));
  // Of more tokens than the state has rows, the last ones stay.
  Value first = arith::MaxSIOp::create(
      b, k.loc(), k.index(0), k.sub(segment.getLength(), k.index(rows)));
  forRows(first, segment.getLength(), append);
}

void AppendKernel::appendFirst(ArrayRef<Written> written) {
  Value start = segment.getStart(), rows = k.index(written.front().rows());
  Value end = k.min(rows, k.add(start, segment.getLength()));
  forRows(start, end, [&](Value row) {
    for (const Written &each : written)
      copyRow(each, k.sub(row, start), row);
  });
  // What another sequence left in the slot is none of this one's.
  Value cleared = arith::SelectOp::create(b, k.loc(), segment.getBegins(), rows,
                                          k.index(0));
  forRows(end, cleared, [&](Value row) {
    for (const Written &each : written)
      writeRow(each, row,
               tile::SplatOp::create(b, k.loc(), rowType(each), k.scalar(0)));
  });
}

static void append(KernelBuilder &k, AppendKernel kernel) {
  auto mixer = cast<seq::MixerOpInterface>(k.getRoot());
  seq::WindowTokens tokens = windowTokensOf(mixer);
  // Each of the tokens' tensors and the number of its state.
  auto written = [&](unsigned keys, unsigned values, unsigned numbers) {
    SmallVector<Written> list = {{tokens.key, windowStateOf(mixer, keys)}};
    if (values != keys)
      list.push_back({tokens.value, windowStateOf(mixer, values)});
    if (tokens.keyScore)
      list.push_back({tokens.keyScore, windowStateOf(mixer, numbers)});
    return list;
  };
  kernel.appendRing(
      written(tokens.keyState, tokens.valueState, tokens.keyScoreState));
  if (unsigned first = tokens.firstSinkState; tokens.sinkQuery)
    kernel.appendFirst(written(first, first + 1, first + 2));
}

LogicalResult effc::buildWindowAppend(KernelBuilder &k) {
  append(k, AppendKernel(k));
  return success();
}

void effc::appendToWindow(KernelBuilder &k, tile::SegmentOp segment) {
  append(k, AppendKernel(k, segment));
}

LogicalResult effc::buildCausalAppend(KernelBuilder &k) {
  auto root = cast<seq::CausalMixOp>(k.getRoot());
  AppendKernel(k).appendRing({{root.getX(), root.getInputs()}});
  return success();
}
