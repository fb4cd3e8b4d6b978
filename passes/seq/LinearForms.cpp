#include "passes/seq/LinearForms.h"

#include "dialects/seq/Seq.h"

using namespace mlir;

namespace effc::seq {

// Letters of the contractions: t a token that reads, s a token that was
// written, g a group, r a head of its group, k and v the channels.

SmallVector<Value *> LinearTokens::perToken() {
  return {&query,           &key,          &value,
          &headLogDecay,    &keyLogDecay,  &valueLogDecay,
          &elementLogDecay, &turn,         &turnImaginary,
          &queryImaginary,  &keyImaginary, &bonusKey,
          &probe,           &erase};
}

int64_t LinearTokens::getCount() const { return typeOf(value).getDimSize(0); }

Value LinearForms::contract(Value lhs, StringRef lhsLetters, Value rhs,
                            StringRef rhsLetters, StringRef outLetters) {
  return ContractOp::create(builder, loc, lhs, lhsLetters, rhs, rhsLetters,
                            outLetters);
}

Value LinearForms::exp(Value x) { return ExpOp::create(builder, loc, x); }

Value LinearForms::add(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return AddOp::create(builder, loc, a, b);
}

Value LinearForms::slice(Value x, int64_t axis, int64_t first, int64_t count) {
  if (first == 0 && count == typeOf(x).getDimSize(axis))
    return x;
  return SliceOp::create(builder, loc, x, axis, first, count);
}

Value LinearForms::concat(ValueRange xs, int64_t axis) {
  if (xs.size() == 1)
    return xs.front();
  return ConcatOp::create(builder, loc, xs, axis);
}

Value LinearForms::reshape(Value x, ArrayRef<int64_t> shape) {
  return ReshapeOp::create(builder, loc, x, shape);
}

// Tokens [first, first + count), with the state of `tokens`.
LinearTokens LinearForms::sliceTokens(const LinearTokens &tokens, int64_t first,
                                      int64_t count) {
  LinearTokens part = tokens;
  for (Value *member : part.perToken())
    if (*member)
      *member = rows(*member, first, count);
  return part;
}

// Scans chunks of `chunk` tokens, each computed by `body`.
LinearResult
LinearForms::scanChunks(const LinearTokens &tokens, int64_t chunk,
                        function_ref<LinearResult(const LinearTokens &)> body) {
  LinearTokens inside = tokens;
  SmallVector<Value> operands;
  for (Value *member : inside.perToken())
    if (*member)
      operands.push_back(*member);
  SmallVector<Value> states = {tokens.state};
  if (tokens.stateImaginary)
    states.push_back(tokens.stateImaginary);
  auto scan =
      ScanOp::create(builder, loc, TypeRange{tokens.value.getType()},
                     TypeRange(ValueRange(states)), chunk, operands, states);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&scan.getBody());
  for (Value *member : inside.perToken())
    if (*member)
      *member = block->addArgument(withRows(typeOf(*member), chunk), loc);
  inside.state = block->addArgument(tokens.state.getType(), loc);
  if (tokens.stateImaginary)
    inside.stateImaginary =
        block->addArgument(tokens.stateImaginary.getType(), loc);
  LinearResult result = body(inside);
  SmallVector<Value> yielded = {result.read, result.state};
  if (result.stateImaginary)
    yielded.push_back(result.stateImaginary);
  YieldOp::create(builder, loc, yielded);
  return {scan.getOutputs().front(), scan.getNextStates().front(),
          result.stateImaginary ? scan.getNextStates().back() : Value()};
}

// One token: the recurrence itself. The sums over t have one term.
LinearResult LinearForms::recurrence(const LinearTokens &token) {
  Value decayed = token.state;
  auto decay = [&](Value logDecay, StringRef letters) {
    if (logDecay)
      decayed = contract(exp(logDecay), letters, decayed, "grkv", "grkv");
  };
  decay(token.headLogDecay, "tgr");
  decay(token.keyLogDecay, "tgrk");
  decay(token.valueLogDecay, "tgrv");
  decay(token.elementLogDecay, "tgrkv");

  Value state =
      add(decayed, contract(token.key, "tgk", token.value, "tgrv", "grkv"));
  if (token.probe) {
    Value probed =
        contract(token.probe, "tgk", probesBefore() ? token.state : decayed,
                 "grkv", "tgrv");
    state = add(state, contract(token.erase, "tgrk", probed, "tgrv", "grkv"));
  }
  Value read = contract(token.query, "tgk", readsBefore() ? token.state : state,
                        "grkv", "tgrv");
  return {add(read, bonus(token)), state};
}

// What each query reads of its own token besides the state; null without one.
Value LinearForms::bonus(const LinearTokens &tokens) {
  if (!tokens.bonusKey)
    return {};
  Value weight = contract(tokens.query, "tgk", tokens.bonusKey, "tgk", "tg");
  return contract(weight, "tg", tokens.value, "tgrv", "tgrv");
}

LinearResult LinearForms::step(const LinearTokens &tokens) {
  return scanChunks(tokens, /*chunk=*/1, [&](const LinearTokens &token) {
    return token.turn ? complexRecurrence(token) : recurrence(token);
  });
}

LinearResult LinearForms::chunkwise(const LinearTokens &tokens, int64_t chunk) {
  auto body = [&](const LinearTokens &inside) {
    return inside.elementLogDecay || inside.turn ? scan(inside)
                                                 : quadratic(inside);
  };
  int64_t left = tokens.getCount() % chunk;
  int64_t full = tokens.getCount() - left;
  if (full == 0)
    return body(tokens);
  LinearResult result = scanChunks(sliceTokens(tokens, 0, full), chunk, body);
  if (left == 0)
    return result;
  LinearTokens last = sliceTokens(tokens, full, left);
  last.state = result.state;
  last.stateImaginary = result.stateImaginary;
  LinearResult tail = body(last);
  return {concat({result.read, tail.read}, /*axis=*/0), tail.state,
          tail.stateImaginary};
}

} // namespace effc::seq
