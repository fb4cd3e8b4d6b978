#include "passes/seq/LinearForms.h"

#include "dialects/seq/Seq.h"

using namespace mlir;

namespace effc::seq {

// Letters of the contractions: t a token that reads, s a token that was
// written, g a group, r a head of its group, k and v the channels.

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

int64_t LinearTokens::getCount() const { return typeOf(query).getDimSize(0); }

// Tokens [first, first + count), with the state before them.
static LinearTokens slice(OpBuilder &builder, Location loc,
                          const LinearTokens &tokens, int64_t first,
                          int64_t count, Value state) {
  auto rows = [&](Value value) -> Value {
    return SliceOp::create(builder, loc, value, /*axis=*/0, first, count);
  };
  return {rows(tokens.query), rows(tokens.key), rows(tokens.value),
          rows(tokens.logDecay), state};
}

// Scans chunks of `chunk` tokens, each computed by `buildBody`.
static LinearResult buildScan(
    OpBuilder &builder, Location loc, const LinearTokens &tokens, int64_t chunk,
    function_ref<LinearResult(OpBuilder &, const LinearTokens &)> buildBody) {
  SmallVector<Value> operands = {tokens.query, tokens.key, tokens.value,
                                 tokens.logDecay};
  auto scan = ScanOp::create(builder, loc, TypeRange{tokens.value.getType()},
                             TypeRange{tokens.state.getType()}, chunk, operands,
                             ValueRange{tokens.state});
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&scan.getBody());
  for (Value operand : operands)
    body->addArgument(withRows(typeOf(operand), chunk), loc);
  body->addArgument(tokens.state.getType(), loc);
  Block::BlockArgListType arguments = body->getArguments();
  LinearResult result =
      buildBody(builder, {arguments[0], arguments[1], arguments[2],
                          arguments[3], arguments[4]});
  YieldOp::create(builder, loc, ValueRange{result.read, result.state});
  return {scan.getOutputs().front(), scan.getNextStates().front()};
}

// One token: the recurrence itself. The sums over t have one term.
static LinearResult buildRecurrence(OpBuilder &builder, Location loc,
                                    const LinearTokens &token) {
  Value decay = ExpOp::create(builder, loc, token.logDecay);
  Value decayed = ContractOp::create(builder, loc, decay, "tgr", token.state,
                                     "grkv", "grkv");
  Value written = ContractOp::create(builder, loc, token.key, "tgk",
                                     token.value, "tgrv", "grkv");
  Value state = AddOp::create(builder, loc, decayed, written);
  Value read = ContractOp::create(builder, loc, token.query, "tgk", state,
                                  "grkv", "tgrv");
  return {read, state};
}

LinearResult buildStepForm(OpBuilder &builder, Location loc,
                           const LinearTokens &tokens) {
  return buildScan(builder, loc, tokens, /*chunk=*/1,
                   [&](OpBuilder &inside, const LinearTokens &token) {
                     return buildRecurrence(inside, loc, token);
                   });
}

namespace {
/// The decays of a block, each in (0, 1] or 0.
struct BlockDecays {
  Value between;   ///< [G, R, T, T]: from token s to token t; 0 where s > t
  Value fromStart; ///< [G, R, T]: from the state before the block to token t
  Value toEnd;     ///< [G, R, T]: from token s to the block's end
  Value whole;     ///< [G, R]: from the state before to the block's end
};
} // namespace

static BlockDecays buildDecays(OpBuilder &builder, Location loc,
                               Value logDecay) {
  ArrayRef<int64_t> shape = typeOf(logDecay).getShape();
  int64_t count = shape[0], groups = shape[1], heads = shape[2];
  auto reshape = [&](Value value, ArrayRef<int64_t> to) -> Value {
    return ReshapeOp::create(builder, loc, value, to);
  };
  BlockDecays decays;
  Value sums = SegmentSumOp::create(builder, loc, logDecay);
  decays.between = ExpOp::create(builder, loc, sums);

  // From the start to token t: the first token's decay, then that from token 0
  // to token t, the first column.
  Value first = SliceOp::create(builder, loc, logDecay, /*axis=*/0, 0, 1);
  Value firstDecay =
      ExpOp::create(builder, loc, reshape(first, {groups, heads}));
  Value column =
      SliceOp::create(builder, loc, decays.between, /*axis=*/3, 0, 1);
  decays.fromStart =
      ContractOp::create(builder, loc, firstDecay, "gr",
                         reshape(column, {groups, heads, count}), "grt", "grt");

  // From token s to the end: the last row.
  Value row =
      SliceOp::create(builder, loc, decays.between, /*axis=*/2, count - 1, 1);
  decays.toEnd = reshape(row, {groups, heads, count});

  Value last =
      SliceOp::create(builder, loc, decays.fromStart, /*axis=*/2, count - 1, 1);
  decays.whole = reshape(last, {groups, heads});
  return decays;
}

LinearResult buildQuadraticForm(OpBuilder &builder, Location loc,
                                const LinearTokens &tokens) {
  BlockDecays decays = buildDecays(builder, loc, tokens.logDecay);

  // What the block's tokens read of one another.
  Value scores = ContractOp::create(builder, loc, tokens.query, "tgk",
                                    tokens.key, "sgk", "gts");
  Value weights = ContractOp::create(builder, loc, scores, "gts",
                                     decays.between, "grts", "grts");
  Value inside = ContractOp::create(builder, loc, weights, "grts", tokens.value,
                                    "sgrv", "tgrv");
  // What they read of the state before the block.
  Value undecayed = ContractOp::create(builder, loc, tokens.query, "tgk",
                                       tokens.state, "grkv", "tgrv");
  Value before = ContractOp::create(builder, loc, decays.fromStart, "grt",
                                    undecayed, "tgrv", "tgrv");
  Value read = AddOp::create(builder, loc, inside, before);

  Value kept = ContractOp::create(builder, loc, decays.whole, "gr",
                                  tokens.state, "grkv", "grkv");
  Value values = ContractOp::create(builder, loc, decays.toEnd, "grs",
                                    tokens.value, "sgrv", "sgrv");
  Value written = ContractOp::create(builder, loc, tokens.key, "sgk", values,
                                     "sgrv", "grkv");
  return {read, AddOp::create(builder, loc, kept, written)};
}

LinearResult buildChunkwiseForm(OpBuilder &builder, Location loc,
                                const LinearTokens &tokens, int64_t chunk) {
  int64_t left = tokens.getCount() % chunk;
  int64_t full = tokens.getCount() - left;
  if (full == 0)
    return buildQuadraticForm(builder, loc, tokens);

  LinearTokens chunks =
      left ? slice(builder, loc, tokens, 0, full, tokens.state) : tokens;
  LinearResult result =
      buildScan(builder, loc, chunks, chunk,
                [&](OpBuilder &inside, const LinearTokens &block) {
                  return buildQuadraticForm(inside, loc, block);
                });
  if (left == 0)
    return result;
  LinearResult tail = buildQuadraticForm(
      builder, loc, slice(builder, loc, tokens, full, left, result.state));
  Value read = ConcatOp::create(builder, loc,
                                ValueRange{result.read, tail.read}, /*axis=*/0);
  return {read, tail.state};
}

} // namespace effc::seq
