// A softmax over a window of keys, block of keys by block of keys:
//
//   s = scale (q k^T), capped, with slopes and numbers of the keys; -inf where
//       out of sight, by select
//
// taken in as RunningSoftmax.h has it, and y = o / l at the end. Blocks lie on a grid of positions that begins with
// the sequence, whatever call a key came with: older blocks in the ring, newer
// ones in the call's rows, and the one between spliced from both. A block that
// is out of a query's sight leaves its sums as they are. So a token's bits
// depend on its position and on the keys before it, and on no cut of the
// prompt.
//
// Where the first tokens' keys stay, their blocks come first: a query sees
// those of them that its window has passed, with scores of its own.
//
// An item of a decode call is a segment and the heads that share one key and
// one value, which are the rows of its blocks (WindowDecode.cpp), and may have
// pieces of the keys; an item of a prefill call is a head of a segment, or the
// heads that choose keys together, and every n-th block of its queries. The ring
// is written by a launch of its own. Floor: 2 H (K + V) FLOPs per token and key in
// sight, in decode the bytes of those keys and values.
#include "passes/seq_to_tile/builders/window/Window.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace effc;

namespace {

/// Distances of keys in sight, and sums of two, stay within i32.
constexpr int64_t kMostDistance = int64_t(1) << 30;

/// Whole numbers that f32 counts one by one.
constexpr int64_t kMostCounted = int64_t(1) << 24;

} // namespace

seq::WindowTokens effc::windowTokensOf(seq::MixerOpInterface mixer) {
  auto stateful = cast<seq::StatefulOpInterface>(mixer.getOperation());
  return mixer.getWindowTokens(
      stateful.getOperandsOf(seq::OperandRole::Token),
      stateful.getOperandsOf(seq::OperandRole::Parameter));
}

Value effc::windowStateOf(seq::MixerOpInterface mixer, unsigned index) {
  auto stateful = cast<seq::StatefulOpInterface>(mixer.getOperation());
  return mixer->getOperand(stateful.getStates()[index].operand);
}

WindowKernel::WindowKernel(KernelBuilder &k, seq::MixerOpInterface mixer)
    : k(k), b(k.ops()), mixer(mixer), record(mixer.getStructure().getWindow()),
      tokens(windowTokensOf(mixer)) {
  blocks = k.getContext().sizes.window;
  heads = sizeOf(tokens.query, 1);
  auto state = [&](unsigned index) { return windowStateOf(mixer, index); };
  ring = {state(tokens.keyState), state(tokens.valueState), {}};
  if (tokens.sinkQuery)
    first = {
        state(tokens.firstSinkState), state(tokens.firstSinkState + 1), {}};
  if (tokens.keyScore) {
    ring.numbers = state(tokens.keyScoreState);
    if (tokens.sinkQuery)
      first.numbers = state(tokens.firstSinkState + 2);
    headsPerNumber = heads / sizeOf(tokens.keyScore, 1);
  }
  if (tokens.blocks)
    headsPerChoice = heads / sizeOf(tokens.blocks, 1);
  keyChannels = sizeOf(tokens.query, 2);
  valueChannels = sizeOf(mixer->getResult(0), 2);
  ringRows = sizeOf(ring.keys, 0);
  blockKeys = blocks.keys;
}

// Distances are i32, and where only some keys are kept, keys are counted in f32.
LogicalResult WindowKernel::checkDistances() {
  auto check = [&](int64_t keys, int64_t most, StringRef why) -> LogicalResult {
    if (keys <= most)
      return success();
    InFlightDiagnostic error = emitError(mixer.getLoc())
                               << "expects at most " << most
                               << " keys in sight, but got " << keys;
    error.attachNote() << why << "; a smaller window or context has room";
    return error;
  };
  if (failed(check(ringRows, kMostDistance,
                   "kernels count the distance of keys in 32 bits")))
    return failure();
  return record.getKeep() ? check(keysInSight(), kMostCounted,
                                  "kernels count the keys that are kept in f32")
                          : success();
}

LogicalResult WindowKernel::build() {
  if (failed(checkDistances()))
    return failure();
  if (blockKeys < 8)
    emitRemark(mixer.getLoc())
        << "blocks of " << blockKeys << " keys, since a ring of " << ringRows
        << " rows has no larger power of two as a divisor; a multiple of 32 "
           "takes less time";
  rows = k.isDecode() ? sharedHeadsOf(mixer) : blocks.queries;
  columnType = k.columnType(rows);
  scoreType = k.blockType(rows, blockKeys, tile::Role::Accumulator);
  mixedType = k.blockType(rows, valueChannels, tile::Role::Accumulator);
  return k.isDecode() ? buildDecode() : buildPrefill();
}

// Heads that share the numbers by which keys are kept share an item, so that
// these keys are found once for all of them.
LogicalResult WindowKernel::buildPrefill() {
  int64_t together = record.getKeep() ? headsPerNumber : 1;
  int64_t groups = heads / together, parts = blocks.items;
  k.setItems(tile::Count::Segments, 1, groups * parts);
  auto [sequence, rest] = k.divide(k.item(), groups * parts);
  auto [group, part] = k.divide(rest, parts);
  segment = tile::SegmentOp::create(b, k.loc(), k.segmentTable(), sequence);
  Value blocks =
      k.divide(k.add(segment.getLength(), k.index(rows - 1)), rows).first;
  auto loop = scf::ForOp::create(b, k.loc(), part, blocks, k.index(parts));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value from = k.mul(loop.getInductionVar(), rows);
  Value count = k.min(k.index(rows), k.sub(segment.getLength(), from));
  Value row = k.add(segment.getFirstRow(), from);
  Queries queries;
  queries.first = k.add(segment.getStart(), from);
  queries.last = k.sub(k.add(queries.first, count), k.index(1));
  if (together == 1)
    return mixHead(queries, group, row, count);
  queries.numberHead = group;
  Kept kept = findKept(queries);
  auto heads =
      scf::ForOp::create(b, k.loc(), k.index(0), k.index(together), k.index(1));
  b.setInsertionPointToStart(heads.getBody());
  Value head = k.add(k.mul(group, together), heads.getInductionVar());
  return mixHead(queries, head, row, count, kept);
}

// A block of one head's queries, of which the first is the call's row `row`.
LogicalResult WindowKernel::mixHead(Queries queries, Value head, Value row,
                                    Value count, std::optional<Kept> kept) {
  auto perHead = [&](Value parameter) -> Value {
    if (!parameter)
      return {};
    return tile::ReadOp::create(b, k.loc(), b.getF32Type(), k.read(parameter),
                                ValueRange{head});
  };
  auto tileOf = [&](Value query) {
    return k.load(k.read(query), {row, head, k.index(0)},
                  {rows, 1, keyChannels},
                  k.blockType(rows, keyChannels, tile::Role::Operand), count);
  };
  queries.slopes = perHead(tokens.slopes);
  queries.sinks = perHead(tokens.sinks);
  queries.keyHead = k.divide(head, record.getHeadsPerKey()).first;
  queries.valueHead = k.divide(head, record.getHeadsPerValue()).first;
  queries.numberHead = k.divide(head, headsPerNumber).first;
  queries.tile = tileOf(tokens.query);
  if (tokens.sinkQuery)
    queries.atEnd = tileOf(tokens.sinkQuery);
  if (tokens.blocks)
    queries.blocks = k.load(
        k.read(tokens.blocks),
        {row, k.divide(head, headsPerChoice).first, k.index(0)},
        {rows, 1, sizeOf(tokens.blocks, 2)},
        k.blockType(rows, sizeOf(tokens.blocks, 2), tile::Role::Accumulator),
        count);
  if (!kept)
    kept = findKept(queries);
  return finish(row, head, mix(queries, *kept), {rows, 1, valueChannels},
                count);
}

// A sink is a key with a logit and no value.
RunningSoftmax WindowKernel::begin(Value sinks) {
  RunningSoftmax running = RunningSoftmax::begin(k, rows, valueChannels);
  if (sinks) {
    running.largest = k.map(columnType, {sinks},
                            [](OpBuilder &, ValueRange e) { return e[0]; });
    running.total = splat(columnType, 1);
  }
  return running;
}

// All blocks of keys that one of the queries sees.
RunningSoftmax WindowKernel::mix(const Queries &queries, const Kept &kept) {
  return RunningSoftmax::of(overKeys(
      queries, begin(queries.sinks).values(),
      [&](KeyBlock block, LoadKeys load, ValueRange before) {
        auto mixed = [&](const KeyBlock &seen) {
          return mixBlock(queries, seen, loadKeys(queries, seen, load), kept,
                          RunningSoftmax::of(before));
        };
        if (!queries.blocks)
          return mixed(block).values();
        return SmallVector<Value>(whereChosen(queries, block, before, mixed));
      }));
}

SmallVector<Value> WindowKernel::overKeys(
    const Queries &queries, SmallVector<Value> carried,
    function_ref<SmallVector<Value>(KeyBlock block, LoadKeys load,
                                    ValueRange carried)>
        body) {
  Value start = segment.getStart(), zero = k.index(0), one = k.index(1);
  Value oldest =
      record.getWindow() == 0
          ? zero
          : k.divide(max(zero,
                         k.sub(queries.first, k.index(record.getWindow() - 1))),
                     blockKeys)
                .first;
  Value end = k.add(k.divide(queries.last, blockKeys).first, one);
  Value between = k.divide(start, blockKeys).first;
  if (range) {
    oldest = max(oldest, range->from);
    end = k.min(end, range->to);
  }
  auto over =
      [&](Value from, Value to,
          function_ref<SmallVector<Value>(Value block, ValueRange)> inside) {
        auto loop = scf::ForOp::create(b, k.loc(), from, to, one, carried);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(loop.getBody());
        scf::YieldOp::create(b, k.loc(),
                             inside(loop.getInductionVar(),
                                    ValueRange(loop.getRegionIterArgs())));
        carried = SmallVector<Value>(loop.getResults());
      };

  // The first tokens' blocks, once the window has passed the first of them.
  if (int64_t stay = record.getSinkTokens()) {
    Value passed =
        arith::CmpIOp::create(b, k.loc(), arith::CmpIPredicate::sge,
                              queries.last, k.index(record.getWindow()));
    if (range)
      passed = arith::AndIOp::create(b, k.loc(), passed, range->isOldest);
    Value blocks = arith::SelectOp::create(
        b, k.loc(), passed, k.index((stay + blockKeys - 1) / blockKeys), zero);
    over(zero, blocks, [&](Value block, ValueRange before) {
      return body(
          blockAt(block, queries, /*isPassed=*/true),
          [&](Value state, Value rows, Value head, int64_t channels) {
            return asKept(splicedFirst(state, rows, head, channels, block),
                          state);
          },
          before);
    });
  }
  // Blocks before the call's first row, where they lie in the ring.
  over(oldest, k.min(between, end), [&](Value block, ValueRange before) {
    Value at = k.divide(block, ringRows / blockKeys).second;
    return body(
        blockAt(block, queries, /*isPassed=*/false),
        [&](Value state, Value, Value head, int64_t channels) {
          return load(state, {segment.getSlot(), k.mul(at, blockKeys), head},
                      {1, blockKeys, 1}, channels, {});
        },
        before);
  });
  // The block in which the call begins.
  auto inSpliced = [&](Value block, ValueRange before) {
    return body(
        blockAt(block, queries, /*isPassed=*/false),
        [&](Value state, Value rows, Value head, int64_t channels) {
          return asKept(splicedRing(state, rows, head, channels, block), state);
        },
        before);
  };
  if (range && !range->hasNewest)
    return carried;
  if (k.isDecode())
    return inSpliced(between, carried);
  over(max(oldest, between), k.min(k.add(between, one), end), inSpliced);
  // Blocks after it, where they lie in the call's rows.
  over(max(oldest, k.add(between, one)), end,
       [&](Value block, ValueRange before) {
         Value from = k.sub(k.mul(block, blockKeys), start);
         Value count =
             k.min(k.index(blockKeys), k.sub(segment.getLength(), from));
         return body(
             blockAt(block, queries, /*isPassed=*/false),
             [&](Value state, Value rows, Value head, int64_t channels) {
               return asKept(load(rows,
                                  {k.add(segment.getFirstRow(), from), head},
                                  {blockKeys, 1}, channels, count),
                             state);
             },
             before);
       });
  return carried;
}

Keys WindowKernel::loadKeys(const Queries &queries, const KeyBlock &block,
                            LoadKeys load) {
  const KeyStates &states = statesOf(block);
  Keys keys;
  keys.keys = load(states.keys, tokens.key, queries.keyHead, keyChannels);
  keys.values =
      load(states.values, tokens.value, queries.valueHead, valueChannels);
  if (tokens.keyScore)
    keys.numbers = load(states.numbers, tokens.keyScore, queries.numberHead, 1);
  return keys;
}

// Adds the channels of a box over rows and heads; numbers per key have none.
void WindowKernel::withChannels(Value tensor, int64_t channels,
                                SmallVectorImpl<Value> &at,
                                SmallVectorImpl<int64_t> &sizes) {
  if (cast<RankedTensorType>(tensor.getType()).getRank() < 3)
    return;
  at.push_back(k.index(0));
  sizes.push_back(channels);
}

// A block of the keys of one head, in place.
Value WindowKernel::load(Value tensor, SmallVector<Value> at,
                         SmallVector<int64_t> sizes, int64_t channels,
                         Value count) {
  withChannels(tensor, channels, at, sizes);
  return k.load(k.read(tensor), at, sizes,
                k.blockType(blockKeys, channels, tile::Role::Operand), count);
}

Value WindowKernel::splice(Value state, Value stateRow, Value rows, Value row,
                           Value head, int64_t channels, Value before,
                           Value end) {
  SmallVector<Value> inState = {segment.getSlot(), stateRow, head};
  SmallVector<Value> inRows = {row, head};
  SmallVector<int64_t> stateSizes = {1, blockKeys, 1},
                       rowSizes = {blockKeys, 1};
  withChannels(state, channels, inState, stateSizes);
  withChannels(rows, channels, inRows, rowSizes);
  return tile::SpliceOp::create(
      b, k.loc(), k.blockType(blockKeys, channels, tile::Role::Operand),
      k.read(state), inState, k.read(rows), inRows, before, end, stateSizes,
      rowSizes);
}

// A block of which the rows before the call lie in the ring.
Value WindowKernel::splicedRing(Value state, Value rows, Value head,
                                int64_t channels, Value block) {
  Value at = k.divide(block, ringRows / blockKeys).second;
  Value before = k.sub(segment.getStart(), k.mul(block, blockKeys));
  Value end = k.min(k.index(blockKeys), k.add(before, segment.getLength()));
  return splice(state, k.mul(at, blockKeys), rows, segment.getFirstRow(), head,
                channels, before, end);
}

// A block of the first tokens: those before the call lie in their state, the
// others are the call's first rows, if it begins among them; none is a row of a
// token that comes later.
Value WindowKernel::splicedFirst(Value state, Value rows, Value head,
                                 int64_t channels, Value block) {
  Value start = segment.getStart(), base = k.mul(block, blockKeys);
  auto rowsBefore = [&](Value position) {
    Value among = k.min(position, k.index(record.getSinkTokens()));
    return max(k.index(0), k.min(k.index(blockKeys), k.sub(among, base)));
  };
  Value row = k.add(segment.getFirstRow(), max(k.index(0), k.sub(base, start)));
  return splice(state, base, rows, row, head, channels, rowsBefore(start),
                rowsBefore(k.add(start, segment.getLength())));
}

// A number per key becomes one per score by a product with ones, which is
// exact.
Value WindowKernel::spread(const Keys &keys) {
  Value zeros = tile::SplatOp::create(b, k.loc(), scoreType, k.scalar(0));
  Value ones = tile::SplatOp::create(
      b, k.loc(), k.blockType(rows, 1, tile::Role::Operand), k.scalar(1));
  return k.exactDot(zeros, ones, keys.numbers, /*transposeA=*/false,
                    /*transposeB=*/true);
}

// First tokens may be further away than i32 counts, but a key that the window
// has passed is one at any distance beyond it.
KeyBlock WindowKernel::blockAt(Value index, const Queries &queries,
                               bool isPassed) {
  Value fromQuery = k.sub(k.mul(index, blockKeys), queries.first);
  if (isPassed)
    fromQuery = max(fromQuery, k.index(-kMostDistance - blockKeys));
  return {index, isPassed,
          arith::IndexCastOp::create(b, k.loc(), b.getI32Type(), fromQuery)};
}

// The distance from query to key is that of row 0 and column 0, less the row's
// number (where rows are tokens), plus the column's.
Sight WindowKernel::sightOf(OpBuilder &builder, const KeyBlock &block) {
  Location loc = k.loc();
  auto asI32 = [&](Value index) -> Value {
    return arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                      index);
  };
  Value column = asI32(tile::ColumnIndexOp::create(builder, loc));
  Value to = arith::AddIOp::create(builder, loc, column, block.fromQuery);
  if (!k.isDecode())
    to = arith::SubIOp::create(builder, loc, to,
                               asI32(tile::RowIndexOp::create(builder, loc)));
  auto both = [&](Value x, Value y) {
    return arith::AndIOp::create(builder, loc, x, y);
  };
  int64_t window = record.getWindow(), stay = record.getSinkTokens();
  if (block.isPassed) {
    Value position = arith::AddIOp::create(
        builder, loc, column, asI32(k.mul(block.index, blockKeys)));
    Value end = arith::SubIOp::create(
        builder, loc, position,
        arith::ConstantOp::create(
            builder, loc,
            builder.getI32IntegerAttr(
                static_cast<int32_t>(stay + window - 1))));
    return {arith::MaxSIOp::create(builder, loc, to, end),
            both(compare(builder, arith::CmpIPredicate::sle, to, -window),
                 compare(builder, arith::CmpIPredicate::slt, position, stay))};
  }
  Value visible = compare(builder, arith::CmpIPredicate::sle, to, 0);
  if (window > 0)
    visible =
        both(visible, compare(builder, arith::CmpIPredicate::sgt, to, -window));
  return {to, visible};
}

Value WindowKernel::compare(OpBuilder &builder, arith::CmpIPredicate predicate,
                            Value value, int64_t bound) {
  return arith::CmpIOp::create(
      builder, k.loc(), predicate, value,
      arith::ConstantOp::create(
          builder, k.loc(),
          builder.getI32IntegerAttr(static_cast<int32_t>(bound))));
}

// M x N scores of a block, -inf for keys out of sight.
Value WindowKernel::scores(const Queries &queries, const KeyBlock &block,
                           const Keys &keys, const Kept &kept) {
  Value zeros = tile::SplatOp::create(b, k.loc(), scoreType, k.scalar(0));
  Value products =
      k.dot(zeros, block.isPassed ? queries.atEnd : queries.tile, keys.keys,
            /*transposeA=*/false, /*transposeB=*/true);
  Value numbers = keys.numbers ? spread(keys) : Value();
  SmallVector<Value> inputs = {products};
  if (numbers)
    inputs.push_back(numbers);
  if (kept.bound)
    llvm::append_values(inputs, kept.bound, kept.last);
  size_t chosen = inputs.size();
  if (block.chosen)
    inputs.push_back(block.chosen);
  if (queries.slopes)
    inputs.push_back(queries.slopes);
  double cap = record.getSoftCap().getValueAsDouble();
  return k.map(scoreType, inputs, [&](OpBuilder &builder, ValueRange e) {
    Location loc = k.loc();
    Value score = arith::MulFOp::create(
        builder, loc, e[0],
        constant(builder, record.getScale().getValueAsDouble()));
    if (cap > 0) {
      Value part =
          arith::DivFOp::create(builder, loc, score, constant(builder, cap));
      score = arith::MulFOp::create(builder, loc,
                                    math::TanhOp::create(builder, loc, part),
                                    constant(builder, cap));
    }
    auto [distance, visible] = sightOf(builder, block);
    if (queries.slopes)
      score = math::FmaOp::create(
          builder, loc, e.back(),
          arith::SIToFPOp::create(builder, loc, builder.getF32Type(), distance),
          score);
    if (numbers)
      score = withNumber(builder, score, e[1]);
    if (kept.bound)
      visible = arith::AndIOp::create(
          builder, loc, visible, isKept(builder, e[1], distance, e[2], e[3]));
    if (block.chosen)
      visible = arith::AndIOp::create(
          builder, loc, visible,
          arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT,
                                e[chosen], constant(builder, 0)));
    return arith::SelectOp::create(
               builder, loc, visible, score,
               constant(builder, -std::numeric_limits<double>::infinity()))
        .getResult();
  });
}

// What a number per key makes of a score.
Value WindowKernel::withNumber(OpBuilder &builder, Value score, Value number) {
  Location loc = k.loc();
  switch (record.getKeyScore()) {
  case seq::KeyScore::None:
    return score;
  case seq::KeyScore::Bias:
    return arith::AddFOp::create(builder, loc, score, number);
  case seq::KeyScore::Scale:
    return arith::MulFOp::create(builder, loc, score, number);
  case seq::KeyScore::Threshold: {
    Value below = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT,
                                        number, constant(builder, 1));
    return arith::SelectOp::create(
        builder, loc, below,
        constant(builder, -std::numeric_limits<double>::infinity()), score);
  }
  }
  llvm_unreachable("a key score of no kind");
}

RunningSoftmax WindowKernel::mixBlock(const Queries &queries,
                                      const KeyBlock &block, const Keys &keys,
                                      const Kept &kept,
                                      const RunningSoftmax &before) {
  SoftmaxStep step =
      SoftmaxStep::of(k, before, scores(queries, block, keys, kept));
  return step.mix(k, before.mixed, keys.values);
}

LogicalResult WindowKernel::finish(Value row, Value head,
                                   const RunningSoftmax &running,
                                   ArrayRef<int64_t> sizes, Value rows) {
  Value y = k.map(mixedType, {running.mixed, running.total},
                  [&](OpBuilder &builder, ValueRange e) {
                    return emitMean(builder, k.loc(), e[0], e[1]);
                  });
  auto stateful = cast<seq::StatefulOpInterface>(mixer.getOperation());
  SmallVector<Value> at = {row, head, k.index(0)};
  return k.finish(
      stateful.getTokenResults().front(), y,
      [&](Value tensor) {
        return k.load(k.read(tensor), at, sizes, mixedType, rows);
      },
      [&](unsigned result, Value tile) {
        k.store(tile, k.write(result), at, sizes, rows);
      });
}

LogicalResult effc::buildWindow(KernelBuilder &k) {
  return WindowKernel(k, cast<seq::MixerOpInterface>(k.getRoot())).build();
}
