// A softmax over a window of keys, block of keys by block of keys:
//
//   s  = scale (q k^T), capped, with slopes and numbers of the keys; -inf out
//   of
//        sight, by select
//   m' = max(m, max s);  p = e^(s - m');  a = e^(m - m')
//   l' = a l + sum p;    o' = a o + p v
//
// and y = o / l at the end. Blocks lie on a grid of positions that begins with
// the sequence, whatever call a key came with: older blocks in the ring, newer
// ones in the call's rows, and the one between spliced from both. A block that
// is out of a query's sight leaves its sums as they are. So a token's bits
// depend on its position and on the keys before it, and on no cut of the
// prompt.
//
// An item of a decode call is a segment and the heads that share one key and
// one value, which are the rows of its blocks; an item of a prefill call is a
// head of a segment and every n-th block of its queries. The ring is written by
// a launch of its own. Floor: 2 H (K + V) FLOPs per token and key in sight, in
// decode the bytes of those keys and values.
#include "passes/seq_to_tile/builders/Builders.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace effc;

namespace {

/// Queries of a block in prefill: four times the rows that a product takes at
/// once, so that a key is read from the cache once for all of them.
constexpr int64_t kQueries = 16;
/// Heads times parts of a segment's queries, at least: enough for the cores of
/// a machine where a call has one segment and a model few heads.
constexpr int64_t kItems = 8;
/// What a running maximum starts with: below every score, yet finite, so that
/// no difference of infinities arises.
constexpr float kLowest = std::numeric_limits<float>::lowest();

/// A block's queries: rows of one head (prefill) or heads of one row (decode).
struct Queries {
  Value tile;   // M x K
  Value first;  // position of the first
  Value last;   // position of the last
  Value slopes; // f32, or a column of M; null: none
  Value sinks;  // likewise
  Value keyHead, valueHead, numberHead;
};

/// A block of keys and what they carry.
struct Keys {
  Value keys, values; // N x K, N x V
  Value numbers;      // N x 1, or null
};

/// Running maximum, sum and weighted values.
struct Running {
  Value largest, total, mixed;
  SmallVector<Value> values() const { return {largest, total, mixed}; }
  static Running of(ValueRange values) {
    return {values[0], values[1], values[2]};
  }
};

class WindowKernel {
public:
  WindowKernel(KernelBuilder &k, seq::MixerOpInterface mixer);

  LogicalResult build();

private:
  int64_t sizeOf(Value tensor, unsigned dim) const {
    return cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  }
  Value max(Value lhs, Value rhs) {
    return arith::MaxSIOp::create(b, k.loc(), lhs, rhs);
  }
  Value constant(OpBuilder &builder, double value) {
    return arith::ConstantOp::create(
        builder, k.loc(), builder.getF32FloatAttr(static_cast<float>(value)));
  }
  LogicalResult buildDecode();
  LogicalResult buildPrefill();
  Running mix(const Queries &queries);
  Running mixBlock(const Queries &queries, Value block, const Keys &keys,
                   const Running &before);
  Value scores(const Queries &queries, Value block, const Keys &keys);
  Value withNumber(OpBuilder &builder, Value score, Value number);
  /// The three kinds of key that `load` gives: of a ring and the call's rows,
  /// the head and the channels.
  Keys loadKeys(
      const Queries &queries,
      function_ref<Value(Value ring, Value rows, Value head, int64_t channels)>
          load);
  void withChannels(Value tensor, int64_t channels, SmallVectorImpl<Value> &at,
                    SmallVectorImpl<int64_t> &sizes);
  Value load(Value tensor, SmallVector<Value> at, SmallVector<int64_t> sizes,
             int64_t channels, Value count);
  Value spliced(Value ring, Value rows, Value head, int64_t channels,
                Value block);
  LogicalResult finish(Value row, Value head, const Running &running,
                       ArrayRef<int64_t> sizes, Value rows);

  KernelBuilder &k;
  OpBuilder &b;
  seq::MixerOpInterface mixer;
  seq::WindowAttr record;
  seq::WindowTokens tokens;
  Value keyState, valueState, numberState;
  int64_t headsPerNumber = 1;
  int64_t heads, keyChannels, valueChannels, ringRows, blockKeys;
  int64_t rows = 0; // M
  tile::TileType columnType, scoreType, mixedType;
  tile::SegmentOp segment;
};

} // namespace

// The mixer's operands by what they are.
static seq::WindowTokens tokensOf(seq::MixerOpInterface mixer) {
  auto stateful = cast<seq::StatefulOpInterface>(mixer.getOperation());
  return mixer.getWindowTokens(
      stateful.getOperandsOf(seq::OperandRole::Token),
      stateful.getOperandsOf(seq::OperandRole::Parameter));
}

static Value stateOf(seq::MixerOpInterface mixer, unsigned index) {
  auto stateful = cast<seq::StatefulOpInterface>(mixer.getOperation());
  return mixer->getOperand(stateful.getStates()[index].operand);
}

WindowKernel::WindowKernel(KernelBuilder &k, seq::MixerOpInterface mixer)
    : k(k), b(k.ops()), mixer(mixer), record(mixer.getStructure().getWindow()),
      tokens(tokensOf(mixer)) {
  keyState = stateOf(mixer, tokens.keyState);
  valueState = stateOf(mixer, tokens.valueState);
  heads = sizeOf(tokens.query, 1);
  if (tokens.keyScore) {
    numberState = stateOf(mixer, tokens.keyScoreState);
    headsPerNumber = heads / sizeOf(tokens.keyScore, 1);
  }
  keyChannels = sizeOf(tokens.query, 2);
  valueChannels = sizeOf(tokens.value, 2);
  ringRows = sizeOf(keyState, 0);
  // A block never wraps around in the ring.
  blockKeys = 32;
  while (ringRows % blockKeys != 0)
    blockKeys /= 2;
}

LogicalResult WindowKernel::build() {
  if (record.getKeep() != 0)
    return mixer->emitOpError("has no kernel: expects 'keep' to be 0, but got ")
           << record.getKeep();
  if (blockKeys < 8)
    emitRemark(mixer.getLoc())
        << "blocks of " << blockKeys << " keys, since a ring of " << ringRows
        << " rows has no larger power of two as a divisor; a multiple of 32 "
           "takes less time";
  return k.isDecode() ? buildDecode() : buildPrefill();
}

LogicalResult WindowKernel::buildDecode() {
  rows = std::min(record.getHeadsPerKey(), record.getHeadsPerValue());
  if (tokens.keyScore)
    rows = std::gcd(rows, headsPerNumber);
  int64_t groups = heads / rows;
  k.setItems(tile::Count::Segments, 1, groups);
  auto [sequence, group] = k.divide(k.item(), groups);
  segment = tile::SegmentOp::create(b, k.loc(), k.segmentTable(), sequence);
  Value head = k.mul(group, rows), row = segment.getFirstRow();
  auto perHead = [&](Value parameter) {
    return parameter
               ? k.load(k.read(parameter), {head}, {rows}, k.columnType(rows))
               : Value();
  };
  Queries queries;
  queries.tile = k.load(k.read(tokens.query), {row, head, k.index(0)},
                        {1, rows, keyChannels},
                        k.blockType(rows, keyChannels, tile::Role::Operand));
  queries.first = queries.last = segment.getStart();
  queries.slopes = perHead(tokens.slopes);
  queries.sinks = perHead(tokens.sinks);
  queries.keyHead = k.divide(head, record.getHeadsPerKey()).first;
  queries.valueHead = k.divide(head, record.getHeadsPerValue()).first;
  queries.numberHead = k.divide(head, headsPerNumber).first;
  return finish(row, head, mix(queries), {1, rows, valueChannels}, {});
}

LogicalResult WindowKernel::buildPrefill() {
  rows = kQueries;
  int64_t parts = (kItems + heads - 1) / heads;
  k.setItems(tile::Count::Segments, 1, heads * parts);
  auto [sequence, rest] = k.divide(k.item(), heads * parts);
  auto [head, part] = k.divide(rest, parts);
  segment = tile::SegmentOp::create(b, k.loc(), k.segmentTable(), sequence);
  auto perHead = [&, head = head](Value parameter) -> Value {
    if (!parameter)
      return {};
    return tile::ReadOp::create(b, k.loc(), b.getF32Type(), k.read(parameter),
                                ValueRange{head});
  };
  Queries queries;
  queries.slopes = perHead(tokens.slopes);
  queries.sinks = perHead(tokens.sinks);
  queries.keyHead = k.divide(head, record.getHeadsPerKey()).first;
  queries.valueHead = k.divide(head, record.getHeadsPerValue()).first;
  queries.numberHead = k.divide(head, headsPerNumber).first;
  Value blocks =
      k.divide(k.add(segment.getLength(), k.index(rows - 1)), rows).first;
  auto loop = scf::ForOp::create(b, k.loc(), part, blocks, k.index(parts));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value from = k.mul(loop.getInductionVar(), rows);
  Value count = k.min(k.index(rows), k.sub(segment.getLength(), from));
  Value row = k.add(segment.getFirstRow(), from);
  queries.tile = k.load(
      k.read(tokens.query), {row, head, k.index(0)}, {rows, 1, keyChannels},
      k.blockType(rows, keyChannels, tile::Role::Operand), count);
  queries.first = k.add(segment.getStart(), from);
  queries.last = k.sub(k.add(queries.first, count), k.index(1));
  return finish(row, head, mix(queries), {rows, 1, valueChannels}, count);
}

// All blocks of keys that one of the queries sees.
Running WindowKernel::mix(const Queries &queries) {
  columnType = k.columnType(rows);
  scoreType = k.blockType(rows, blockKeys, tile::Role::Accumulator);
  mixedType = k.blockType(rows, valueChannels, tile::Role::Accumulator);
  auto splat = [&](tile::TileType type, float value) -> Value {
    return tile::SplatOp::create(b, k.loc(), type, k.scalar(value));
  };
  // A sink is a key with a logit and no value.
  Running running{splat(columnType, kLowest), splat(columnType, 0),
                  splat(mixedType, 0)};
  if (queries.sinks) {
    running.largest = k.map(columnType, {queries.sinks},
                            [](OpBuilder &, ValueRange e) { return e[0]; });
    running.total = splat(columnType, 1);
  }

  Value start = segment.getStart(), zero = k.index(0), one = k.index(1);
  Value first =
      record.getWindow() == 0
          ? zero
          : k.divide(max(zero,
                         k.sub(queries.first, k.index(record.getWindow() - 1))),
                     blockKeys)
                .first;
  Value end = k.add(k.divide(queries.last, blockKeys).first, one);
  Value between = k.divide(start, blockKeys).first;
  auto overBlocks =
      [&](Value from, Value to, const Running &before,
          function_ref<Running(Value block, const Running &)> body) {
        auto loop =
            scf::ForOp::create(b, k.loc(), from, to, one, before.values());
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(loop.getBody());
        Running next =
            body(loop.getInductionVar(), Running::of(loop.getRegionIterArgs()));
        scf::YieldOp::create(b, k.loc(), next.values());
        return Running::of(loop.getResults());
      };

  // Blocks before the call's first row, where they lie in the ring.
  running = overBlocks(
      first, k.min(between, end), running,
      [&](Value block, const Running &before) {
        Value at = k.divide(block, ringRows / blockKeys).second;
        Keys keys = loadKeys(
            queries, [&](Value ring, Value, Value head, int64_t channels) {
              return load(ring, {segment.getSlot(), k.mul(at, blockKeys), head},
                          {1, blockKeys, 1}, channels, {});
            });
        return mixBlock(queries, block, keys, before);
      });
  // The block in which the call begins.
  auto mixSpliced = [&](Value block, const Running &before) {
    Keys keys = loadKeys(
        queries, [&](Value ring, Value rows, Value head, int64_t channels) {
          return spliced(ring, rows, head, channels, block);
        });
    return mixBlock(queries, block, keys, before);
  };
  if (k.isDecode())
    return mixSpliced(between, running);
  running = overBlocks(max(first, between), k.min(k.add(between, one), end),
                       running, mixSpliced);
  // Blocks after it, where they lie in the call's rows.
  return overBlocks(
      max(first, k.add(between, one)), end, running,
      [&](Value block, const Running &before) {
        Value from = k.sub(k.mul(block, blockKeys), start);
        Value count =
            k.min(k.index(blockKeys), k.sub(segment.getLength(), from));
        Keys keys = loadKeys(
            queries, [&](Value, Value rows, Value head, int64_t channels) {
              return load(rows, {k.add(segment.getFirstRow(), from), head},
                          {blockKeys, 1}, channels, count);
            });
        return mixBlock(queries, block, keys, before);
      });
}

Keys WindowKernel::loadKeys(
    const Queries &queries,
    function_ref<Value(Value ring, Value rows, Value head, int64_t channels)>
        load) {
  Keys keys;
  keys.keys = load(keyState, tokens.key, queries.keyHead, keyChannels);
  keys.values =
      load(valueState, tokens.value, queries.valueHead, valueChannels);
  if (tokens.keyScore)
    keys.numbers = load(numberState, tokens.keyScore, queries.numberHead, 1);
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

// A block of which the rows before the call lie in the ring.
Value WindowKernel::spliced(Value ring, Value rows, Value head,
                            int64_t channels, Value block) {
  Value at = k.divide(block, ringRows / blockKeys).second;
  Value before = k.sub(segment.getStart(), k.mul(block, blockKeys));
  Value end = k.min(k.index(blockKeys), k.add(before, segment.getLength()));
  SmallVector<Value> inRing = {segment.getSlot(), k.mul(at, blockKeys), head};
  SmallVector<Value> inRows = {segment.getFirstRow(), head};
  SmallVector<int64_t> ringSizes = {1, blockKeys, 1}, rowSizes = {blockKeys, 1};
  withChannels(ring, channels, inRing, ringSizes);
  withChannels(rows, channels, inRows, rowSizes);
  return tile::SpliceOp::create(
      b, k.loc(), k.blockType(blockKeys, channels, tile::Role::Operand),
      k.read(ring), inRing, k.read(rows), inRows, before, end, ringSizes,
      rowSizes);
}

// M x N scores of a block, -inf for keys out of sight.
Value WindowKernel::scores(const Queries &queries, Value block,
                           const Keys &keys) {
  Value zeros = tile::SplatOp::create(b, k.loc(), scoreType, k.scalar(0));
  Value products =
      tile::DotOp::create(b, k.loc(), scoreType, zeros, queries.tile, keys.keys,
                          /*transpose_a=*/false, /*transpose_b=*/true);
  // A number per key becomes one per score by a product with ones, which is
  // exact.
  Value numbers;
  if (keys.numbers) {
    Value ones = tile::SplatOp::create(
        b, k.loc(), k.blockType(rows, 1, tile::Role::Operand), k.scalar(1));
    numbers = tile::DotOp::create(b, k.loc(), scoreType, zeros, ones,
                                  keys.numbers, /*transpose_a=*/false,
                                  /*transpose_b=*/true);
  }
  // The distance from query to key is that of row 0 and column 0, less the
  // row's number (where rows are tokens), plus the column's.
  Value distance =
      arith::IndexCastOp::create(b, k.loc(), b.getI32Type(),
                                 k.sub(k.mul(block, blockKeys), queries.first));
  SmallVector<Value> inputs = {products};
  if (numbers)
    inputs.push_back(numbers);
  if (queries.slopes)
    inputs.push_back(queries.slopes);
  double cap = record.getSoftCap().getValueAsDouble();
  return k.map(scoreType, inputs, [&](OpBuilder &builder, ValueRange e) {
    Location loc = k.loc();
    auto asI32 = [&](Value index) -> Value {
      return arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                        index);
    };
    auto compare = [&](arith::CmpIPredicate predicate, Value value,
                       int64_t bound) -> Value {
      return arith::CmpIOp::create(
          builder, loc, predicate, value,
          arith::ConstantOp::create(
              builder, loc,
              builder.getI32IntegerAttr(static_cast<int32_t>(bound))));
    };
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
    Value column = asI32(tile::ColumnIndexOp::create(builder, loc));
    Value to = arith::AddIOp::create(builder, loc, column, distance);
    if (!k.isDecode())
      to = arith::SubIOp::create(builder, loc, to,
                                 asI32(tile::RowIndexOp::create(builder, loc)));
    if (queries.slopes)
      score = math::FmaOp::create(
          builder, loc, e.back(),
          arith::SIToFPOp::create(builder, loc, builder.getF32Type(), to),
          score);
    if (numbers)
      score = withNumber(builder, score, e[1]);
    Value visible = compare(arith::CmpIPredicate::sle, to, 0);
    if (record.getWindow() > 0) {
      Value near = compare(arith::CmpIPredicate::sgt, to, -record.getWindow());
      visible = arith::AndIOp::create(builder, loc, visible, near);
    }
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

Running WindowKernel::mixBlock(const Queries &queries, Value block,
                               const Keys &keys, const Running &before) {
  Location loc = k.loc();
  Value score = scores(queries, block, keys);
  Value blockLargest =
      tile::ReduceOp::create(b, loc, columnType, tile::ReduceKind::Max, score,
                             /*over_rows=*/false);
  Value largest =
      k.map(columnType, {before.largest, blockLargest},
            [&](OpBuilder &builder, ValueRange e) -> Value {
              return arith::MaximumFOp::create(builder, loc, e[0], e[1]);
            });
  auto expOfDifference = [&](OpBuilder &builder, Value x, Value y) -> Value {
    return math::ExpOp::create(builder, loc,
                               arith::SubFOp::create(builder, loc, x, y));
  };
  Value faded = k.map(columnType, {before.largest, largest},
                      [&](OpBuilder &builder, ValueRange e) {
                        return expOfDifference(builder, e[0], e[1]);
                      });
  Value weights =
      k.map(scoreType, {score, largest}, [&](OpBuilder &builder, ValueRange e) {
        return expOfDifference(builder, e[0], e[1]);
      });
  Value blockTotal =
      tile::ReduceOp::create(b, loc, columnType, tile::ReduceKind::Add, weights,
                             /*over_rows=*/false);
  Value total =
      k.map(columnType, {before.total, faded, blockTotal},
            [&](OpBuilder &builder, ValueRange e) -> Value {
              return math::FmaOp::create(builder, loc, e[0], e[1], e[2]);
            });
  Value mixed = k.map(mixedType, {before.mixed, faded},
                      [&](OpBuilder &builder, ValueRange e) -> Value {
                        return arith::MulFOp::create(builder, loc, e[0], e[1]);
                      });
  mixed = tile::DotOp::create(b, loc, mixedType, mixed, weights, keys.values,
                              /*transpose_a=*/false, /*transpose_b=*/false);
  return {largest, total, mixed};
}

LogicalResult WindowKernel::finish(Value row, Value head,
                                   const Running &running,
                                   ArrayRef<int64_t> sizes, Value rows) {
  Value y = k.map(
      mixedType, {running.mixed, running.total},
      [&](OpBuilder &builder, ValueRange e) -> Value {
        // The largest term of a sum is 1: only an empty one is
        // less, and its result 0.
        Value least = constant(builder, std::numeric_limits<float>::min());
        Value total = arith::MaximumFOp::create(builder, k.loc(), e[1], least);
        return arith::DivFOp::create(builder, k.loc(), e[0], total);
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
  return WindowKernel(k, cast<seq::MixerOpInterface>(k.getCore())).build();
}

LogicalResult effc::buildWindowAppend(KernelBuilder &k) {
  auto mixer = cast<seq::MixerOpInterface>(k.getCore());
  seq::WindowTokens tokens = tokensOf(mixer);
  // Rows are dealt out, since a segment may be a whole call.
  int64_t parts = k.isDecode() ? 1 : kItems;
  k.setItems(tile::Count::Segments, 1, parts);
  OpBuilder &b = k.ops();
  auto [sequence, part] = k.divide(k.item(), parts);
  auto segment =
      tile::SegmentOp::create(b, k.loc(), k.segmentTable(), sequence);
  SmallVector<std::pair<Value, Value>> written = {
      {tokens.key, stateOf(mixer, tokens.keyState)},
      {tokens.value, stateOf(mixer, tokens.valueState)}};
  if (tokens.keyScore)
    written.push_back({tokens.keyScore, stateOf(mixer, tokens.keyScoreState)});
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
