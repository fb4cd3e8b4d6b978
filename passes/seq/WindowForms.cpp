#include "passes/seq/WindowForms.h"

#include "dialects/seq/Seq.h"

#include <limits>

using namespace mlir;

namespace effc::seq {

// Letters of the contractions: t a query, s a key, h a head; g and r a key head
// and a head that shares it, j and u a value head and a head that shares it; k
// and v the channels.

int64_t WindowInputs::getCount() const {
  return typeOf(tokens.query).getDimSize(0);
}

namespace {
/// The running values of a softmax.
struct Running {
  Value largest; ///< [H, T]
  Value total;   ///< [H, T]
  Value mixed;   ///< [T, H, V]
};

/// Some keys, where they lie and what they carry.
struct Keys {
  Value keys, values; ///< [S, G, K], [S, J, V]
  Value numbers;      ///< [S, N], or null
  Value positions;    ///< [S] i32
  /// Whether they count where the window has passed them, and only there.
  bool areSinks = false;
};

/// Builds the equations of the header.
class Softmax {
public:
  Softmax(OpBuilder &builder, Location loc, const WindowInputs &inputs)
      : b(builder), loc(loc), record(inputs.record), tokens(inputs.tokens) {}

  /// [H, T, S], -inf out of sight. `all` are the keys that any query may see.
  Value scores(const Keys &keys, ArrayRef<Keys> all);
  /// The sums after a block of scores [H, T, S] and values [S, J, V].
  Running mix(const std::optional<Running> &before, Value scores, Value values);
  /// [T, H, V].
  Value finish(Running running);

private:
  Value keepBest(Value scores, const Keys &keys, ArrayRef<Keys> all,
                 IntegerAttr window);
  // How far keys lie from queries.
  Value distances(const Keys &keys);
  Value reshape(Value value, ArrayRef<int64_t> shape) {
    return ReshapeOp::create(b, loc, value, shape);
  }
  Value fade(Value from, Value to) {
    return ExpOp::create(b, loc, SubOp::create(b, loc, from, to));
  }
  // What is per head and token onto each channel.
  Value perToken(Value factor, Value mixed) {
    return ContractOp::create(b, loc, factor, "ht", mixed, "thv", "thv");
  }
  Value atLeast(Value x, double bound) {
    return ClampOp::create(b, loc, x.getType(), x, b.getF64FloatAttr(bound),
                           FloatAttr());
  }

  OpBuilder &b;
  Location loc;
  WindowAttr record;
  WindowTokens tokens;
};
} // namespace

Value Softmax::scores(const Keys &keys, ArrayRef<Keys> all) {
  ArrayRef<int64_t> query = typeOf(tokens.query).getShape();
  int64_t count = query[0], heads = query[1], channels = query[2];
  int64_t groups = typeOf(keys.keys).getDimSize(1);
  int64_t size = typeOf(keys.keys).getDimSize(0);
  Value grouped = reshape(keys.areSinks ? tokens.sinkQuery : tokens.query,
                          {count, groups, heads / groups, channels});
  Value scores =
      ContractOp::create(b, loc, grouped, "tgrk", keys.keys, "sgk", "grts");
  scores = reshape(scores, {heads, count, size});
  scores =
      ScaleOp::create(b, loc, scores, record.getScale().getValueAsDouble());
  if (double cap = record.getSoftCap().getValueAsDouble()) {
    scores = TanhOp::create(b, loc, ScaleOp::create(b, loc, scores, 1 / cap));
    scores = ScaleOp::create(b, loc, scores, cap);
  }
  if (tokens.slopes)
    scores = AddOp::create(b, loc, scores,
                           ContractOp::create(b, loc, tokens.slopes, "h",
                                              distances(keys), "ts", "hts"));
  if (keys.numbers)
    scores = KeyNumbersOp::create(b, loc, scores.getType(),
                                  record.getKeyScore(), scores, keys.numbers);
  IntegerAttr window = record.getWindow()
                           ? b.getI64IntegerAttr(record.getWindow())
                           : IntegerAttr();
  scores =
      WindowMaskOp::create(b, loc, scores.getType(), scores, tokens.positions,
                           keys.positions, window, keys.areSinks);
  if (tokens.blocks)
    scores = BlockMaskOp::create(b, loc, scores.getType(), scores,
                                 keys.positions, tokens.blocks,
                                 b.getI64IntegerAttr(record.getBlock()));
  return record.getKeep() ? keepBest(scores, keys, all, window) : scores;
}

// Keys that the window has passed lie as far away as in a cache of them and the
// window's.
Value Softmax::distances(const Keys &keys) {
  Type type = RankedTensorType::get({typeOf(tokens.positions).getDimSize(0),
                                     typeOf(keys.positions).getDimSize(0)},
                                    b.getF32Type());
  int64_t last = record.getSinkTokens() + record.getWindow() - 1;
  return DistancesOp::create(b, loc, type, tokens.positions, keys.positions,
                             keys.areSinks ? b.getI64IntegerAttr(last)
                                           : IntegerAttr());
}

// Of the keys in sight, those of the largest numbers: a key's rank is the sum
// of what comes before it in every part of the keys.
Value Softmax::keepBest(Value scores, const Keys &keys, ArrayRef<Keys> all,
                        IntegerAttr window) {
  ArrayRef<int64_t> shape = typeOf(scores).getShape();
  Type type = RankedTensorType::get(
      {typeOf(keys.numbers).getDimSize(1), shape[1], shape[2]}, b.getF32Type());
  Value ranks;
  for (const Keys &others : all) {
    Value count = CountBetterOp::create(
        b, loc, type, keys.numbers, keys.positions, others.numbers,
        others.positions, tokens.positions, window, others.areSinks);
    ranks = ranks ? AddOp::create(b, loc, ranks, count) : count;
  }
  return KeepBestOp::create(b, loc, scores.getType(), scores, ranks,
                            b.getI64IntegerAttr(record.getKeep()));
}

Running Softmax::mix(const std::optional<Running> &before, Value scores,
                     Value values) {
  ArrayRef<int64_t> shape = typeOf(scores).getShape();
  int64_t heads = shape[0], count = shape[1], size = shape[2];
  int64_t groups = typeOf(values).getDimSize(1);
  int64_t channels = typeOf(values).getDimSize(2);
  Running after;
  after.largest = ReduceOp::create(b, loc, ReduceKind::Max, scores, /*axis=*/2);
  if (before)
    after.largest = MaxOp::create(b, loc, before->largest, after.largest);
  after.largest = atLeast(after.largest, std::numeric_limits<float>::lowest());
  Value largest = BroadcastOp::create(b, loc, after.largest, scores, {0, 1});
  Value weights = fade(scores, largest);
  after.total = ReduceOp::create(b, loc, ReduceKind::Sum, weights, /*axis=*/2);
  Value mixed = ContractOp::create(
      b, loc, reshape(weights, {groups, heads / groups, count, size}), "juts",
      values, "sjv", "tjuv");
  after.mixed = reshape(mixed, {count, heads, channels});
  if (!before)
    return after;
  Value faded = fade(before->largest, after.largest);
  after.total = AddOp::create(
      b, loc, MulOp::create(b, loc, faded, before->total), after.total);
  after.mixed =
      AddOp::create(b, loc, perToken(faded, before->mixed), after.mixed);
  return after;
}

Value Softmax::finish(Running running) {
  if (tokens.sinks) {
    // A key with a logit and no value.
    Value sinks =
        BroadcastOp::create(b, loc, tokens.sinks, running.largest, {0});
    Value largest = MaxOp::create(b, loc, running.largest, sinks);
    Value faded = fade(running.largest, largest);
    running.total =
        AddOp::create(b, loc, MulOp::create(b, loc, faded, running.total),
                      fade(sinks, largest));
    running.mixed = perToken(faded, running.mixed);
  }
  // The largest term of a sum is 1, so only an empty sum lies below.
  Value total = atLeast(running.total, std::numeric_limits<float>::min());
  Value one = ExpOp::create(b, loc, SubOp::create(b, loc, total, total));
  return perToken(DivOp::create(b, loc, one, total), running.mixed);
}

//===- rings --------------------------------------------------------------===//

// The tokens' own keys.
static Keys ownKeys(const WindowInputs &inputs) {
  const WindowTokens &tokens = inputs.tokens;
  return {tokens.key, tokens.value, tokens.keyScore, tokens.positions};
}

// The rings' keys, with the positions that their rows hold before the tokens or
// after them.
static Keys ringKeys(OpBuilder &builder, Location loc,
                     const WindowInputs &inputs, ArrayRef<Value> rings,
                     bool before) {
  const WindowTokens &tokens = inputs.tokens;
  int64_t rows = typeOf(rings[tokens.keyState]).getDimSize(0);
  Type type = RankedTensorType::get({rows}, builder.getI32Type());
  return {
      rings[tokens.keyState], rings[tokens.valueState],
      tokens.keyScore ? rings[tokens.keyScoreState] : Value(),
      RingPositionsOp::create(builder, loc, type, tokens.positions, before)};
}

// The keys of the first tokens, with the states after the tokens: those that
// have no query yet are out of every query's sight.
static Keys sinkKeys(OpBuilder &builder, Location loc,
                     const WindowInputs &inputs, ArrayRef<Value> next) {
  const WindowTokens &tokens = inputs.tokens;
  ArrayRef<Value> states = next.drop_front(tokens.firstSinkState);
  Type type = RankedTensorType::get({typeOf(states[0]).getDimSize(0)},
                                    builder.getI32Type());
  return {states[0], states[1], tokens.keyScore ? states[2] : Value(),
          RingPositionsOp::create(builder, loc, type, tokens.positions,
                                  /*before=*/false, /*first=*/true),
          /*areSinks=*/true};
}

// The rings after the tokens.
static SmallVector<Value> write(OpBuilder &builder, Location loc,
                                const WindowInputs &inputs) {
  const WindowTokens &tokens = inputs.tokens;
  SmallVector<Value> next(inputs.states);
  auto into = [&](unsigned ring, Value rows, bool first = false) {
    next[ring] = RingWriteOp::create(builder, loc, next[ring].getType(), rows,
                                     tokens.positions, next[ring], first);
  };
  into(tokens.keyState, tokens.key);
  if (tokens.valueState != tokens.keyState)
    into(tokens.valueState, tokens.value);
  if (tokens.keyScore)
    into(tokens.keyScoreState, tokens.keyScore);
  if (!tokens.sinkQuery)
    return next;
  into(tokens.firstSinkState, tokens.key, /*first=*/true);
  into(tokens.firstSinkState + 1, tokens.value, /*first=*/true);
  if (tokens.keyScore)
    into(tokens.firstSinkState + 2, tokens.keyScore, /*first=*/true);
  return next;
}

// What tokens may see: the first tokens' keys, where they stay, the ring before
// the tokens, and their own. `next` becomes the states after them.
static SmallVector<Keys> allKeys(OpBuilder &builder, Location loc,
                                 const WindowInputs &inputs,
                                 SmallVector<Value> &next) {
  next = write(builder, loc, inputs);
  SmallVector<Keys> all;
  if (inputs.tokens.sinkQuery)
    all.push_back(sinkKeys(builder, loc, inputs, next));
  all.push_back(ringKeys(builder, loc, inputs, inputs.states, /*before=*/true));
  all.push_back(ownKeys(inputs));
  return all;
}

//===- forms --------------------------------------------------------------===//

// The operands that vary with the token, in one order.
static SmallVector<Value *> tokenValues(WindowTokens &tokens) {
  SmallVector<Value *> values = {&tokens.query, &tokens.key, &tokens.value,
                                 &tokens.positions};
  if (tokens.keyScore)
    values.push_back(&tokens.keyScore);
  if (tokens.sinkQuery)
    values.push_back(&tokens.sinkQuery);
  if (tokens.blocks)
    values.push_back(&tokens.blocks);
  return values;
}

// Tokens [first, first + count), with the states before them.
static WindowInputs slice(OpBuilder &builder, Location loc, WindowInputs inputs,
                          int64_t first, int64_t count, ValueRange states) {
  for (Value *value : tokenValues(inputs.tokens))
    *value = SliceOp::create(builder, loc, *value, /*axis=*/0, first, count);
  inputs.states.assign(states.begin(), states.end());
  return inputs;
}

// Scans chunks of `chunk` tokens, each computed by `buildBody`.
static WindowResult buildScan(
    OpBuilder &builder, Location loc, const WindowInputs &inputs, int64_t chunk,
    function_ref<WindowResult(OpBuilder &, const WindowInputs &)> buildBody) {
  WindowInputs inside = inputs;
  SmallVector<Value> operands;
  for (Value *value : tokenValues(inside.tokens))
    operands.push_back(*value);
  ArrayRef<int64_t> query = typeOf(inputs.tokens.query).getShape();
  Type mixed = RankedTensorType::get(
      {query[0], query[1], typeOf(inputs.tokens.value).getDimSize(2)},
      builder.getF32Type());
  auto scan = ScanOp::create(builder, loc, TypeRange{mixed},
                             TypeRange(ValueRange(inputs.states)), chunk,
                             operands, inputs.states);
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&scan.getBody());
  for (Value *value : tokenValues(inside.tokens))
    *value = body->addArgument(withRows(typeOf(*value), chunk), loc);
  for (Value &state : inside.states)
    state = body->addArgument(state.getType(), loc);
  WindowResult result = buildBody(builder, inside);
  SmallVector<Value> yielded = {result.mixed};
  llvm::append_range(yielded, result.states);
  YieldOp::create(builder, loc, yielded);
  return {scan.getOutputs().front(), SmallVector<Value>(scan.getNextStates())};
}

WindowResult buildWindowStep(OpBuilder &builder, Location loc,
                             const WindowInputs &inputs) {
  return buildScan(
      builder, loc, inputs, /*chunk=*/1,
      [&](OpBuilder &inside, const WindowInputs &token) -> WindowResult {
        SmallVector<Value> next = write(inside, loc, token);
        SmallVector<Keys> all;
        if (token.tokens.sinkQuery)
          all.push_back(sinkKeys(inside, loc, token, next));
        all.push_back(ringKeys(inside, loc, token, next, /*before=*/false));
        Softmax softmax(inside, loc, token);
        std::optional<Running> running;
        for (const Keys &keys : all)
          running =
              softmax.mix(running, softmax.scores(keys, all), keys.values);
        return {softmax.finish(*running), next};
      });
}

WindowResult buildWindowQuadratic(OpBuilder &builder, Location loc,
                                  const WindowInputs &inputs) {
  SmallVector<Value> next;
  SmallVector<Keys> all = allKeys(builder, loc, inputs, next);
  Softmax softmax(builder, loc, inputs);
  SmallVector<Value> scores, values;
  for (const Keys &keys : all) {
    scores.push_back(softmax.scores(keys, all));
    values.push_back(keys.values);
  }
  Running running = softmax.mix(
      std::nullopt, ConcatOp::create(builder, loc, scores, /*axis=*/2),
      ConcatOp::create(builder, loc, values, /*axis=*/0));
  return {softmax.finish(running), next};
}

// One block of tokens: the first tokens' keys, the ring before it block by
// block, then its own keys.
static WindowResult buildBlock(OpBuilder &builder, Location loc,
                               const WindowInputs &inputs, int64_t chunk) {
  SmallVector<Value> next;
  SmallVector<Keys> all = allKeys(builder, loc, inputs, next);
  const Keys &ring = all[all.size() - 2], &own = all.back();
  Softmax softmax(builder, loc, inputs);
  std::optional<Running> running;
  for (const Keys &keys : ArrayRef(all).drop_back(2))
    running = softmax.mix(running, softmax.scores(keys, all), keys.values);
  Value scores = softmax.scores(ring, all);
  int64_t rows = typeOf(ring.keys).getDimSize(0);
  for (int64_t first = 0; first < rows; first += chunk) {
    int64_t count = std::min(chunk, rows - first);
    running = softmax.mix(
        running,
        SliceOp::create(builder, loc, scores, /*axis=*/2, first, count),
        SliceOp::create(builder, loc, ring.values, /*axis=*/0, first, count));
  }
  running = softmax.mix(running, softmax.scores(own, all), own.values);
  return {softmax.finish(*running), next};
}

WindowResult buildWindowChunkwise(OpBuilder &builder, Location loc,
                                  const WindowInputs &inputs, int64_t chunk) {
  int64_t left = inputs.getCount() % chunk, full = inputs.getCount() - left;
  if (full == 0)
    return buildBlock(builder, loc, inputs, chunk);
  WindowInputs chunks =
      left ? slice(builder, loc, inputs, 0, full, inputs.states) : inputs;
  WindowResult result =
      buildScan(builder, loc, chunks, chunk,
                [&](OpBuilder &inside, const WindowInputs &block) {
                  return buildBlock(inside, loc, block, chunk);
                });
  if (left == 0)
    return result;
  WindowResult tail =
      buildBlock(builder, loc,
                 slice(builder, loc, inputs, full, left, result.states), chunk);
  tail.mixed = ConcatOp::create(
      builder, loc, ValueRange{result.mixed, tail.mixed}, /*axis=*/0);
  return tail;
}

} // namespace effc::seq
