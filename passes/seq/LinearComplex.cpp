// A linear recurrence of complex numbers, whose output is a real part.
//
// State, decay, key and query are pairs of tensors. A token's decay is
// exp(log-decay) times a number of magnitude 1, and between two tokens the
// product of these numbers: of magnitude at most 1, however they are grouped.
// No angles are summed, which would outgrow f32. A quadratic form stands in a
// frame that turns with the state, in which decays are real numbers.
#include "passes/seq/LinearForms.h"

#include "dialects/seq/Seq.h"

using namespace mlir;

namespace effc::seq {

static int64_t rankOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank();
}

// A factor per channel, shared by the heads of a group, or one per element.
static StringRef factorLetters(Value factor) {
  return rankOf(factor) == 3 ? "tgk" : "tgrkv";
}

// The letters of decays along an axis.
static StringRef decayLetters(Value decay) {
  return StringRef("tgrkv").take_front(rankOf(decay));
}

// The product of two complex numbers.
LinearForms::Complex LinearForms::multiply(Complex a, StringRef aLetters,
                                           Complex b, StringRef bLetters,
                                           StringRef outLetters) {
  auto product = [&](Value x, Value y) {
    return contract(x, aLetters, y, bLetters, outLetters);
  };
  return {SubOp::create(builder, loc, product(a.re, b.re), product(a.im, b.im)),
          add(product(a.re, b.im), product(a.im, b.re))};
}

LinearForms::Complex LinearForms::add(Complex a, Complex b) {
  return {add(a.re, b.re), add(a.im, b.im)};
}

// What each token leaves of the state before it, along the axis that decays.
LinearForms::Complex LinearForms::complexDecays(const LinearTokens &tokens) {
  Value logDecay = tokens.headLogDecay  ? tokens.headLogDecay
                   : tokens.keyLogDecay ? tokens.keyLogDecay
                                        : tokens.elementLogDecay;
  Value magnitude = exp(logDecay);
  return {MulOp::create(builder, loc, magnitude, tokens.turn),
          MulOp::create(builder, loc, magnitude, tokens.turnImaginary)};
}

// What each token writes, as `letters` order it.
LinearForms::Complex LinearForms::complexWritten(const LinearTokens &tokens,
                                                 StringRef letters) {
  StringRef key = factorLetters(tokens.key);
  return {contract(tokens.key, key, tokens.value, "tgrv", letters),
          contract(tokens.keyImaginary, key, tokens.value, "tgrv", letters)};
}

// What the queries read, the real part.
Value LinearForms::complexRead(const LinearTokens &tokens, Complex states,
                               StringRef letters) {
  StringRef query = factorLetters(tokens.query);
  return SubOp::create(
      builder, loc, contract(tokens.query, query, states.re, letters, "tgrv"),
      contract(tokens.queryImaginary, query, states.im, letters, "tgrv"));
}

LinearResult LinearForms::complexRecurrence(const LinearTokens &token) {
  Complex before = {token.state, token.stateImaginary};
  Complex decay = complexDecays(token);
  Complex after =
      add(multiply(decay, decayLetters(decay.re), before, "grkv", "grkv"),
          complexWritten(token, "grkv"));
  Value read = complexRead(token, readsBefore() ? before : after, "grkv");
  return {read, after.re, after.im};
}

// A factor along the leading axes, for each element.
Value LinearForms::spreadOver(Value part, Value like) {
  auto dimensions = llvm::to_vector(llvm::seq<int64_t>(0, rankOf(part)));
  return BroadcastOp::create(builder, loc, part, like, dimensions);
}

// With u_t the product of all turns up to token t, and conj(u_s) = 1 / u_s,
//   S_t = u_t (sum_{s <= t} exp(L_s+1 + ... + L_t) conj(u_s) written_s
//              + exp(L_0 + ... + L_t) S_0).
LinearResult LinearForms::complexQuadratic(const LinearTokens &tokens) {
  Complex written = complexWritten(tokens, "tgrkv");
  Complex turned = {spreadOver(tokens.turn, written.re),
                    spreadOver(tokens.turnImaginary, written.re)};
  for (int64_t distance = 1; distance < tokens.getCount(); distance *= 2) {
    int64_t rest = tokens.getCount() - distance;
    Complex later = multiply(
        {rows(turned.re, distance, rest), rows(turned.im, distance, rest)},
        "tgrkv", {rows(turned.re, 0, rest), rows(turned.im, 0, rest)}, "tgrkv",
        "tgrkv");
    turned = {concat({rows(turned.re, 0, distance), later.re}, /*axis=*/0),
              concat({rows(turned.im, 0, distance), later.im}, /*axis=*/0)};
  }
  Complex back = {turned.re, NegOp::create(builder, loc, turned.im)};
  Complex still = multiply(back, "tgrkv", written, "tgrkv", "tgrkv");
  Value logDecay = spreadOver(tokens.headLogDecay  ? tokens.headLogDecay
                              : tokens.keyLogDecay ? tokens.keyLogDecay
                                                   : tokens.elementLogDecay,
                              written.re);
  Value decays =
      exp(SegmentSumOp::create(builder, loc, logDecay, /*strict=*/false,
                               /*exclusive=*/false));
  Value since = exp(RunningSumOp::create(builder, loc, logDecay.getType(),
                                         logDecay, /*reverse=*/false,
                                         /*exclusive=*/false));
  auto sum = [&](Value part, Value start) {
    return add(contract(decays, "grkvts", part, "sgrkv", "tgrkv"),
               contract(since, "tgrkv", start, "grkv", "tgrkv"));
  };
  Complex start = {tokens.state, tokens.stateImaginary};
  Complex states = multiply(turned, "tgrkv",
                            {sum(still.re, start.re), sum(still.im, start.im)},
                            "tgrkv", "tgrkv");
  Complex seen = {statesToRead(states.re, start.re),
                  statesToRead(states.im, start.im)};
  return {complexRead(tokens, seen, "tgrkv"), lastState(states.re, start.re),
          lastState(states.im, start.im)};
}

LinearResult LinearForms::complexScan(const LinearTokens &tokens) {
  int64_t count = tokens.getCount();
  Complex written = complexWritten(tokens, "tgrkv");
  Complex decay = complexDecays(tokens);
  decay = {spreadOver(decay.re, written.re), spreadOver(decay.im, written.re)};
  auto part = [&](Complex x, int64_t first, int64_t size) -> Complex {
    return {rows(x.re, first, size), rows(x.im, first, size)};
  };
  auto join = [&](Complex a, Complex b) -> Complex {
    return {concat({a.re, b.re}, /*axis=*/0), concat({a.im, b.im}, /*axis=*/0)};
  };
  for (int64_t distance = 1; distance < count; distance *= 2) {
    int64_t rest = count - distance;
    Complex later = part(decay, distance, rest);
    auto carry = [&](Complex x) {
      return multiply(later, "tgrkv", part(x, 0, rest), "tgrkv", "tgrkv");
    };
    written = join(part(written, 0, distance),
                   add(part(written, distance, rest), carry(written)));
    decay = join(part(decay, 0, distance), carry(decay));
  }
  Complex start = {tokens.state, tokens.stateImaginary};
  Complex states =
      add(written, multiply(decay, "tgrkv", start, "grkv", "tgrkv"));
  Complex seen = {statesToRead(states.re, start.re),
                  statesToRead(states.im, start.im)};
  return {complexRead(tokens, seen, "tgrkv"), lastState(states.re, start.re),
          lastState(states.im, start.im)};
}

} // namespace effc::seq
