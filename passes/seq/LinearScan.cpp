// A linear recurrence as an associative scan over its tokens.
//
// Two stretches of tokens, one after the other, with log-decays a1, a2 and what
// each has written, u1, u2, are one with a1 + a2 and e^a2 u1 + u2. After the
// rounds d = 1, 2, 4, ... each token holds the stretch from the block's start.
#include "passes/seq/LinearForms.h"

#include "dialects/seq/Seq.h"

using namespace mlir;

namespace effc::seq {

LinearResult LinearForms::scan(const LinearTokens &tokens) {
  if (tokens.turn)
    return complexScan(tokens);
  int64_t count = tokens.getCount();
  Value written = contract(tokens.key, "tgk", tokens.value, "tgrv", "tgrkv");
  Value logDecay = tokens.elementLogDecay;
  auto spread = [&](Value part, ArrayRef<int64_t> dimensions) {
    if (part)
      logDecay = add(logDecay, BroadcastOp::create(builder, loc, part, written,
                                                   dimensions));
  };
  spread(tokens.headLogDecay, {0, 1, 2});
  spread(tokens.keyLogDecay, {0, 1, 2, 3});
  spread(tokens.valueLogDecay, {0, 1, 2, 4});

  for (int64_t distance = 1; distance < count; distance *= 2) {
    int64_t rest = count - distance;
    Value later = rows(logDecay, distance, rest);
    Value carried =
        MulOp::create(builder, loc, exp(later), rows(written, 0, rest));
    written = concat({rows(written, 0, distance),
                      add(rows(written, distance, rest), carried)},
                     /*axis=*/0);
    logDecay = concat(
        {rows(logDecay, 0, distance), add(later, rows(logDecay, 0, rest))},
        /*axis=*/0);
  }
  Value states = add(
      written, contract(exp(logDecay), "tgrkv", tokens.state, "grkv", "tgrkv"));
  Value read = contract(tokens.query, "tgk", statesToRead(states, tokens.state),
                        "tgrkv", "tgrv");
  return {add(read, bonus(tokens)), lastState(states, tokens.state)};
}

// The state after the last token, of the shape of the one before the first.
Value LinearForms::lastState(Value states, Value start) {
  auto type = cast<RankedTensorType>(states.getType());
  return reshape(rows(states, type.getDimSize(0) - 1, 1),
                 cast<RankedTensorType>(start.getType()).getShape());
}

Value LinearForms::statesToRead(Value states, Value start) {
  if (!readsBefore())
    return states;
  auto type = cast<RankedTensorType>(states.getType());
  int64_t count = type.getDimSize(0);
  SmallVector<Value> before = {reshape(start, withRows(type, 1).getShape())};
  if (count > 1)
    before.push_back(rows(states, 0, count - 1));
  return concat(before, /*axis=*/0);
}

} // namespace effc::seq
