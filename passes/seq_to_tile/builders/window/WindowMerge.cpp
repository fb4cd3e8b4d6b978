// Merges what the pieces of a decode call's keys have left (WindowPieces.h), one after
// another in the order of their positions:
//
//   m' = max(m, m_i);  l' = e^(m - m') l + e^(m_i - m') l_i;  o' likewise
//
// An item is a head of a segment; one item more of each segment writes its token into
// the ring, which the launch before has read. Floor: the bytes of what the pieces have
// left.
#include "passes/seq_to_tile/builders/window/Window.h"

using namespace mlir;
using namespace effc;

namespace {
class MergeKernel {
public:
  MergeKernel(KernelBuilder &k, seq::MixerOpInterface mixer);
  LogicalResult build();

private:
  LogicalResult merge();
  RunningSoftmax begin();
  RunningSoftmax load(Value place);
  /// What pieces and the one at `place` come to; without it where it is not there.
  RunningSoftmax add(const RunningSoftmax &before, const RunningSoftmax &piece,
                     Value isThere);
  LogicalResult finish(const RunningSoftmax &running);

  KernelBuilder &k;
  OpBuilder &b;
  seq::MixerOpInterface mixer;
  seq::WindowTokens tokens;
  int64_t heads, channels, together;
  WindowPieces pieces;
  Value memory, head;
  tile::SegmentOp segment;
  tile::TileType rowType;
};
} // namespace

MergeKernel::MergeKernel(KernelBuilder &k, seq::MixerOpInterface mixer)
    : k(k), b(k.ops()), mixer(mixer), tokens(windowTokensOf(mixer)) {
  auto sizeOf = [](Value tensor, unsigned dim) {
    return cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  };
  heads = sizeOf(tokens.query, 1);
  channels = sizeOf(mixer->getResult(0), 2);
  rowType = k.rowType(channels);
  int64_t window = mixer.getStructure().getWindow().getWindow();
  int64_t ringRows = sizeOf(windowStateOf(mixer, tokens.keyState), 0);
  int64_t positions = k.getContext().sizes.window.piece;
  int64_t most = WindowPieces::most(window, ringRows, positions);
  together = WindowPieces::together(most);

  k.setItems(tile::Count::Segments, 1, heads + 1);
  auto [sequence, rest] = k.divide(k.item(), heads + 1);
  head = rest;
  segment = tile::SegmentOp::create(b, k.loc(), k.segmentTable(), sequence);
  pieces = WindowPieces::of(k, segment.getStart(), window, positions);
  memory = WindowPieces::memory(k, heads, channels, most, /*written=*/false);
}

LogicalResult MergeKernel::build() {
  k.when(k.compare(arith::CmpIPredicate::eq, head, k.index(heads)),
         [&] { appendToWindow(k, segment); });
  LogicalResult merged = success();
  k.when(k.compare(arith::CmpIPredicate::slt, head, k.index(heads)),
         [&] { merged = merge(); });
  return merged;
}

// A sink is a piece with a logit for a maximum, a sum of 1 and no values.
RunningSoftmax MergeKernel::begin() {
  Value none = tile::SplatOp::create(b, k.loc(), rowType, k.scalar(0));
  if (!tokens.sinks)
    return {k.scalar(kLowestScore), k.scalar(0), none};
  Value sink = tile::ReadOp::create(b, k.loc(), b.getF32Type(),
                                    k.read(tokens.sinks), ValueRange{head});
  return {sink, k.scalar(1), none};
}

RunningSoftmax MergeKernel::load(Value place) {
  auto at = [&](int64_t column) {
    return SmallVector<Value>{segment.getFirstRow(), head, place,
                              k.index(column)};
  };
  auto read = [&](int64_t column) -> Value {
    return tile::ReadOp::create(b, k.loc(), b.getF32Type(), memory, at(column));
  };
  return {read(channels), read(channels + 1),
          k.load(memory, at(0), {1, 1, 1, channels}, rowType)};
}

RunningSoftmax MergeKernel::add(const RunningSoftmax &before,
                                const RunningSoftmax &piece, Value isThere) {
  Location loc = k.loc();
  Value largest = emitLarger(b, loc, before.largest, piece.largest);
  auto [faded, weight] = emitWeights(b, loc, before.largest, piece.largest);
  auto sum = [&, faded = faded, weight = weight](OpBuilder &builder,
                                                 ValueRange e) -> Value {
    Value both = emitWeightedSum(builder, loc, e[0], faded, e[1], weight);
    return arith::SelectOp::create(builder, loc, isThere, both, e[0]);
  };
  return {arith::SelectOp::create(b, loc, isThere, largest, before.largest),
          sum(b, {before.total, piece.total}),
          k.map(rowType, {before.mixed, piece.mixed}, sum)};
}

// What lies at a place without a piece is read and not used.
LogicalResult MergeKernel::merge() {
  auto loop =
      scf::ForOp::create(b, k.loc(), k.index(0), pieces.count,
                         k.index(together), ValueRange(begin().values()));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<std::pair<RunningSoftmax, Value>> read;
    for (int64_t i = 0; i < together; ++i) {
      Value place = k.add(loop.getInductionVar(), k.index(i));
      Value isThere = k.compare(arith::CmpIPredicate::slt, place, pieces.count);
      read.push_back({load(place), isThere});
    }
    RunningSoftmax running = RunningSoftmax::of(loop.getRegionIterArgs());
    for (auto &[piece, isThere] : read)
      running = add(running, piece, isThere);
    scf::YieldOp::create(b, k.loc(), running.values());
  }
  return finish(RunningSoftmax::of(loop.getResults()));
}

LogicalResult MergeKernel::finish(const RunningSoftmax &running) {
  Value y = k.map(rowType, {running.mixed, running.total},
                  [&](OpBuilder &builder, ValueRange e) {
                    return emitMean(builder, k.loc(), e[0], e[1]);
                  });
  auto stateful = cast<seq::StatefulOpInterface>(mixer.getOperation());
  SmallVector<Value> at = {segment.getFirstRow(), head, k.index(0)};
  SmallVector<int64_t> sizes = {1, 1, channels};
  return k.finish(
      stateful.getTokenResults().front(), y,
      [&](Value tensor) { return k.load(k.read(tensor), at, sizes, rowType); },
      [&](unsigned result, Value tile) {
        k.store(tile, k.write(result), at, sizes);
      });
}

LogicalResult effc::buildWindowMerge(KernelBuilder &k) {
  return MergeKernel(k, cast<seq::MixerOpInterface>(k.getRoot())).build();
}
