#include "passes/seq_to_tile/builders/OutputConvolutions.h"

#include "passes/seq_to_tile/KernelCoverage.h"

using namespace mlir;
using namespace effc;

OutputConvolutions::OutputConvolutions(KernelBuilder &k, int64_t outputs,
                                       int64_t tile)
    : k(k), tile(tile), coreResult(k.getCore()->getResult(0)),
      type(k.columnType(tile)) {
  SmallVector<seq::ShortConvolutionOp> ops(
      k.getSourceBody().getOps<seq::ShortConvolutionOp>());
  if (ops.empty())
    return;
  auto firstOutput = [](seq::ShortConvolutionOp op) {
    return ConvolvedOutputs::of(op).first;
  };
  llvm::sort(ops,
             [&](auto a, auto b) { return firstOutput(a) < firstOutput(b); });
  for (seq::ShortConvolutionOp op : ops)
    convolutions.emplace_back(k, op);
  auto add = [&](int64_t begin, int64_t end, ShortConvolution *convolution) {
    if (begin == end)
      return;
    sections.push_back({begin, end, runs, convolution, {}, {}});
    runs += llvm::divideCeil(end - begin, tile);
  };
  int64_t at = 0;
  for (ShortConvolution &convolution : convolutions) {
    int64_t begin = firstOutput(convolution.op),
            end = begin + convolution.op.getX().getType().getDimSize(1);
    add(at, begin, nullptr);
    add(begin, end, &convolution);
    at = end;
  }
  add(at, outputs, nullptr);
  segment =
      tile::SegmentOp::create(k.ops(), k.loc(), k.segmentTable(), k.index(0));
}

// Whether one convolution takes all outputs, which nobody else reads.
bool OutputConvolutions::isAll() const {
  return sections.size() == 1 &&
         !llvm::is_contained(k.getSourceBody().getTerminator()->getOperands(),
                             coreResult);
}

// What `body` gives in the runs of a section; elsewhere nothing runs, and
// nobody may look at the `tiles` results.
SmallVector<Value>
OutputConvolutions::onlyIn(const Section &section, int64_t tiles,
                           function_ref<SmallVector<Value>()> body) {
  if (!section.trips)
    return body();
  OpBuilder &b = k.ops();
  SmallVector<Value> inits;
  if (tiles > 0)
    inits.assign(tiles, tile::SplatOp::create(b, k.loc(), type, k.scalar(0)));
  auto loop = scf::ForOp::create(b, k.loc(), k.index(0), section.trips,
                                 k.index(1), inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> results = body();
  if (tiles > 0)
    scf::YieldOp::create(b, k.loc(), results);
  return SmallVector<Value>(loop.getResults());
}

std::pair<Value, Value> OutputConvolutions::begin(Value run) {
  OpBuilder &b = k.ops();
  // Outputs of a section follow one another as its runs do.
  Value end = k.index(sections.front().end), ahead = k.index(0);
  Value one = k.index(1), zero = k.index(0);
  for (auto [i, section] : llvm::enumerate(sections)) {
    Value trips;
    if (i + 1 < sections.size()) {
      Value before =
          arith::CmpIOp::create(b, k.loc(), arith::CmpIPredicate::ult, run,
                                k.index(sections[i + 1].firstRun));
      trips = arith::SelectOp::create(b, k.loc(), before, one, zero);
    }
    if (i > 0) {
      Value behind =
          arith::CmpIOp::create(b, k.loc(), arith::CmpIPredicate::uge, run,
                                k.index(section.firstRun));
      trips = arith::SelectOp::create(b, k.loc(), behind, trips ? trips : one,
                                      zero);
      end = arith::SelectOp::create(b, k.loc(), behind, k.index(section.end),
                                    end);
      ahead = arith::SelectOp::create(
          b, k.loc(), behind, k.index(section.firstRun * tile - section.begin),
          ahead);
    }
    section.trips = trips;
  }
  first = k.sub(k.mul(run, tile), ahead);
  if (llvm::any_of(sections, [&](const Section &section) {
        return (section.end - section.begin) % tile != 0;
      }))
    count = k.min(k.sub(end, first), k.index(tile));

  for (Section &section : sections) {
    if (!section.convolution)
      continue;
    bool hasBias = !!section.convolution->op.getBias();
    int64_t taps = section.convolution->op.getWeight().getType().getDimSize(0);
    SmallVector<Value> tiles =
        onlyIn(section, 2 * taps - 1 + hasBias, [&]() -> SmallVector<Value> {
          Value channel = k.sub(first, k.index(section.begin));
          ShortConvolution::Channels loaded = section.convolution->load(
              segment, type, [&](Value view, ArrayRef<Value> at) {
                SmallVector<Value> place(at);
                place.push_back(channel);
                SmallVector<int64_t> sizes(at.size(), 1);
                sizes.push_back(tile);
                return k.load(view, place, sizes, type, count);
              });
          SmallVector<Value> all(loaded.taps);
          llvm::append_range(all, loaded.past);
          if (hasBias)
            all.push_back(loaded.bias);
          return all;
        });
    section.channels.taps.assign(tiles.begin(), tiles.begin() + taps);
    section.channels.past.assign(tiles.begin() + taps,
                                 tiles.begin() + 2 * taps - 1);
    if (hasBias)
      section.channels.bias = tiles.back();
  }
  return {first, count};
}

// The outputs of a section's convolution, where `y` is what it has come to.
Value OutputConvolutions::convolve(const Section &section, Value y) {
  ShortConvolution &convolution = *section.convolution;
  ArrayRef<Value> past = section.channels.past;
  Value result = convolution.convolve(section.channels, past, y);
  Value channel = k.sub(first, k.index(section.begin));
  SmallVector<Value> next(past.drop_front());
  next.push_back(y);
  for (auto [i, input] : llvm::enumerate(next))
    k.store(input, convolution.tailView,
            {segment.getSlot(), k.index(i), channel}, {1, 1, tile}, count);
  return result;
}

std::pair<Value, Value> OutputConvolutions::finish(Value row, Value y) {
  if (isAll())
    return {convolutions.front().op.getY(), convolve(sections.front(), y)};
  for (const Section &section : sections) {
    if (!section.convolution)
      continue;
    Value given = section.convolution->op.getY();
    onlyIn(section, 0, [&]() -> SmallVector<Value> {
      Value tiles = convolve(section, y);
      for (auto [i, yielded] :
           llvm::enumerate(k.getSourceBody().getTerminator()->getOperands()))
        if (yielded == given)
          k.store(tiles, k.write(i),
                  {row, k.sub(first, k.index(section.begin))}, {1, tile},
                  count);
      return {};
    });
  }
  return {coreResult, y};
}
