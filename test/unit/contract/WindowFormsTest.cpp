// The forms of class window agree with the op's meaning, on random shapes, data
// and pieces.
//
// The reference evaluates the op itself key by key over all tokens in one call;
// each form is what seq-expand-form makes of copies of the op, one for each
// piece of the tokens, with the states handed on. Dimensions all differ where
// heads do not bind them, and rings are full of other keys before the first
// token.
#include "passes/seq/Passes.h"
#include "test/unit/contract/WindowCase.h"
#include "test/unit/dialects/seq/Program.h"

#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <set>

using namespace mlir;
using namespace effc;
using namespace effc::seq;
using namespace effc::seq::test;
using effc::test::pick;
using effc::test::pickReal;
using effc::test::Random;
using effc::test::WindowCase;

namespace {

/// A shape with the length of its tokens and the position of the first.
struct Case {
  WindowCase op;
  int64_t T, start;
};

Case pickCase(Random &random) {
  while (true) {
    Case c;
    WindowCase &s = c.op;
    // Head counts: G and J of which one divides the other, and H a multiple.
    int64_t few = pick(random, 1, 3), more = few * pick(random, 1, 3);
    bool moreKeys = pick(random, 0, 1);
    s.G = moreKeys ? more : few;
    s.J = moreKeys ? few : more;
    s.H = more * pick(random, 1, 3);
    s.K = pick(random, 1, 9);
    s.V = pick(random, 1, 9);
    c.T = pick(random, 1, 60);
    c.start = pick(random, 0, 2) == 0 ? 0 : pick(random, 1, 70);
    bool full = pick(random, 0, 3) == 0;
    s.W = full ? c.start + c.T + pick(random, 0, 5) : pick(random, 1, 40);
    s.window = full ? 0 : pick(random, 1, s.W);
    s.S = full || pick(random, 0, 1) ? 0 : pick(random, 1, 12);
    s.softCap = pick(random, 0, 2) == 0 ? pickReal(random, 0.5, 4) : 0;
    s.sinks = pick(random, 0, 2) == 0;
    s.slopes = pick(random, 0, 2) == 0;
    if (pick(random, 0, 2) == 0) {
      static const char *const kinds[] = {"bias", "scale", "threshold"};
      s.keyScore = kinds[pick(random, 0, 2)];
      s.N = pick(random, 0, 1) ? s.G : s.H;
      s.keep = pick(random, 0, 1) ? pick(random, 1, s.W) : 0;
    }
    s.keysAlone = s.mayKeepKeysAlone() && pick(random, 0, 1);
    if (std::set<int64_t>{c.T, s.K, s.V, s.W, s.H, s.S}.size() == 6)
      return c;
  }
}

/// The numbers of a case, in the order of the function's arguments.
struct Inputs {
  std::vector<Tensor<double>> tokens, parameters, states;

  /// Tokens [from, to) at their positions, with `states` before them.
  template <typename S>
  std::vector<Datum<S>> slice(int64_t start, int64_t from, int64_t to,
                              const std::vector<Tensor<S>> &states) const {
    std::vector<Datum<S>> slices;
    for (const Tensor<double> &tensor : tokens) {
      SmallVector<int64_t> shape(tensor.getShape());
      int64_t size = tensor.size() / shape[0];
      shape[0] = to - from;
      auto part = tensor.elements().slice(from * size, (to - from) * size);
      slices.push_back(Tensor<S>(shape, {part.begin(), part.end()}));
    }
    std::vector<int32_t> positions(to - from);
    std::iota(positions.begin(), positions.end(), start + from);
    slices.push_back(Tensor<int32_t>({to - from}, positions));
    for (const Tensor<double> &parameter : parameters)
      slices.push_back(as<S>(parameter));
    llvm::append_range(slices, states);
    return slices;
  }
  template <typename S> static Tensor<S> as(const Tensor<double> &tensor) {
    return Tensor<S>(tensor.getShape(),
                     {tensor.elements().begin(), tensor.elements().end()});
  }
  template <typename S> std::vector<Tensor<S>> statesAs() const {
    std::vector<Tensor<S>> list;
    for (const Tensor<double> &state : states)
      list.push_back(as<S>(state));
    return list;
  }
};

Inputs pickInputs(Random &random, const Case &c) {
  // Numbers that f32 holds exactly, so that both precisions see the same.
  auto tensor = [&](ArrayRef<int64_t> shape, auto number) {
    Tensor<double> result(shape);
    for (double &element : result.elements())
      element = float(number());
    return result;
  };
  Inputs inputs;
  for (auto &[name, dims] : c.op.tokens()) {
    SmallVector<int64_t> shape = {c.T};
    llvm::append_range(shape, dims);
    inputs.tokens.push_back(tensor(
        shape, [&, &name = name] { return c.op.element(random, name); }));
  }
  for (const std::string &name : c.op.parameters())
    inputs.parameters.push_back(
        tensor({c.op.H}, [&] { return c.op.parameter(random, name); }));
  for (auto &[name, dims] : c.op.states())
    inputs.states.push_back(
        tensor(dims, [&, &name = name] { return c.op.element(random, name); }));
  return inputs;
}

/// Outputs of all tokens, then the states after them.
template <typename S> struct Outcome {
  std::vector<S> mixed;
  std::vector<Tensor<S>> states;
};

/// Evaluates the op, or a form of it, piece by piece; the ends of the pieces
/// are `ends`.
template <typename S>
Outcome<S> evaluate(const Case &c, const Inputs &inputs, ArrayRef<int64_t> ends,
                    std::optional<std::pair<FormChoice, int64_t>> form) {
  Outcome<S> outcome;
  outcome.states = inputs.statesAs<S>();
  int64_t from = 0;
  for (int64_t to : ends) {
    Program program(c.op.functionText(to - from));
    EXPECT_TRUE(program.isValid()) << program.getDiagnostics().str();
    if (form) {
      PassManager manager(program.getContext());
      manager.addPass(createExpandFormPass({form->first, form->second}));
      EXPECT_TRUE(succeeded(manager.run(program.getModule())))
          << program.getDiagnostics().str();
      EXPECT_FALSE(program.find<MixerOpInterface>()) << "a mixer was left";
    }
    std::vector<Datum<S>> results =
        program.evaluate<S>(inputs.slice<S>(c.start, from, to, outcome.states));
    if (results.empty())
      return outcome;
    llvm::append_range(outcome.mixed, numbers(results[0]).elements());
    for (size_t i = 0; i < outcome.states.size(); ++i)
      outcome.states[i] = numbers(results[i + 1]);
    from = to;
  }
  return outcome;
}

template <typename S>
double worstError(const Case &c, const Outcome<S> &found,
                  const Outcome<double> &expected) {
  SmallVector<int64_t> shape = {c.T, c.op.H, c.op.V};
  if (found.mixed.size() != expected.mixed.size())
    return INFINITY;
  double worst = relativeError(Tensor<S>(shape, found.mixed),
                               Tensor<double>(shape, expected.mixed));
  for (auto [a, b] : llvm::zip_equal(found.states, expected.states))
    worst = std::fmax(worst, relativeError(a, b));
  return worst;
}

SmallVector<int64_t> pickPieces(Random &random, int64_t tokens) {
  std::set<int64_t> ends = {tokens};
  for (int64_t cuts = pick(random, 0, 3); cuts > 0; --cuts)
    ends.insert(pick(random, 1, tokens));
  return llvm::to_vector(ends);
}

TEST(WindowForms, AgreeWithTheirMeaningOnRandomShapes) {
  Random random(2004'05150);
  const char *names[] = {"step", "quadratic", "chunkwise"};
  double worst[3] = {}, worstFloat[3] = {}, worstMeaning = 0;
  for (int test = 0; test < 220; ++test) {
    Case c = pickCase(random);
    SCOPED_TRACE("T " + std::to_string(c.T) + " from " +
                 std::to_string(c.start) + ", " + c.op.text());
    Inputs inputs = pickInputs(random, c);
    Outcome<double> expected = evaluate<double>(c, inputs, {c.T}, std::nullopt);
    worstMeaning =
        std::fmax(worstMeaning,
                  worstError(c, evaluate<float>(c, inputs, {c.T}, std::nullopt),
                             expected));
    static constexpr int64_t chunks[] = {1, 7, 16, 64, 100};
    int64_t chunk = chunks[test % 5];
    std::pair<FormChoice, int64_t> forms[] = {{FormChoice::Step, 0},
                                              {FormChoice::Quadratic, 0},
                                              {FormChoice::Chunkwise, chunk}};
    for (auto [index, form] : llvm::enumerate(forms)) {
      SCOPED_TRACE(names[index] + std::string(" of ") + std::to_string(chunk));
      SmallVector<int64_t> pieces = pickPieces(random, c.T);
      double error =
          worstError(c, evaluate<double>(c, inputs, pieces, form), expected);
      double errorFloat =
          worstError(c, evaluate<float>(c, inputs, pieces, form), expected);
      EXPECT_LE(error, 1e-12);
      EXPECT_LE(errorFloat, 1e-5);
      worst[index] = std::fmax(worst[index], error);
      worstFloat[index] = std::fmax(worstFloat[index], errorFloat);
    }
  }
  std::printf("largest relative error over 220 shapes (double, float):\n");
  for (int i = 0; i < 3; ++i)
    std::printf("  %-10s %.2e  %.2e\n", names[i], worst[i], worstFloat[i]);
  std::printf("  meaning              %.2e\n", worstMeaning);
}

// T, K, V = 6, 3, 2, one head, no state: q[t,i] = sin(0.3 + 0.7 t + 1.1 i),
// k[t,i] = cos(0.2 + 0.5 t + 0.9 i), v[t,i] = sin(0.1 + 0.4 t - 0.6 i), a
// window of 3 keys, scale 3^-0.5. The expected numbers were computed in float64
// from the definition by an independent program.
// Keys that begin with their values give what the same values give beside them.
TEST(WindowForms, KeysMayBeginWithTheirValues) {
  std::string text =
      "func.func @f(%q: tensor<6x4x5xf32>, %k: tensor<6x2x5xf32>, %p: "
      "tensor<6xi32>, %keys: tensor<7x2x5xf32>) -> (tensor<6x4x3xf32>, "
      "tensor<6x4x3xf32>) {\n"
      "  %v = seq.slice %k {axis = 2 : i64, offset = 0 : i64, size = 3 : i64} "
      ": tensor<6x2x5xf32> -> tensor<6x2x3xf32>\n"
      "  %values = seq.slice %keys {axis = 2 : i64, offset = 0 : i64, size = 3 "
      ": i64} : tensor<7x2x5xf32> -> tensor<7x2x3xf32>\n"
      "  %y, %a, %b = seq.attention %q, %k, %v positions(%p) states(%keys, "
      "%values) {scale = 0.4 : f64} : (tensor<6x4x5xf32>, tensor<6x2x5xf32>, "
      "tensor<6x2x3xf32>, tensor<6xi32>, tensor<7x2x5xf32>, "
      "tensor<7x2x3xf32>) -> (tensor<6x4x3xf32>, tensor<7x2x5xf32>, "
      "tensor<7x2x3xf32>)\n"
      "  %z, %c = seq.attention %q, %k positions(%p) states(%keys) {scale = "
      "0.4 : f64} : (tensor<6x4x5xf32>, tensor<6x2x5xf32>, tensor<6xi32>, "
      "tensor<7x2x5xf32>) -> (tensor<6x4x3xf32>, tensor<7x2x5xf32>)\n"
      "  return %y, %z : tensor<6x4x3xf32>, tensor<6x4x3xf32>\n}\n";
  Random random(2405'04434);
  auto drawn = [&](std::vector<int64_t> shape) {
    Tensor<double> tensor(shape);
    for (double &element : tensor.elements())
      element = pickReal(random, -1, 1);
    return tensor;
  };
  Tensor<double> q = drawn({6, 4, 5}), k = drawn({6, 2, 5}),
                 keys = drawn({7, 2, 5});
  // Of the table's 7 rows the first is of a token before.
  Tensor<int32_t> positions({6}, {1, 2, 3, 4, 5, 6});
  for (std::optional<FormChoice> form :
       {std::optional<FormChoice>(), std::optional(FormChoice::Step),
        std::optional(FormChoice::Quadratic),
        std::optional(FormChoice::Chunkwise)}) {
    Program program(text);
    ASSERT_TRUE(program.isValid());
    if (form) {
      PassManager manager(program.getContext());
      manager.addPass(createExpandFormPass({*form, 4}));
      ASSERT_TRUE(succeeded(manager.run(program.getModule())));
    }
    auto results = program.evaluate<double>({q, k, positions, keys});
    EXPECT_LE(relativeError(numbers(results[1]), numbers(results[0])), 1e-14);
  }
}

TEST(WindowForms, HaveValuesComputedElsewhere) {
  std::string text =
      "func.func @f(%q: tensor<6x1x3xf32>, %k: tensor<6x1x3xf32>, %v: "
      "tensor<6x1x2xf32>, %p: tensor<6xi32>, %keys: tensor<3x1x3xf32>, "
      "%values: tensor<3x1x2xf32>) -> tensor<6x1x2xf32> {\n"
      "  %y, %a, %b = seq.attention %q, %k, %v positions(%p) states(%keys, "
      "%values) {window = 3 : i64, scale = 0.57735026918962573 : f64} : "
      "(tensor<6x1x3xf32>, tensor<6x1x3xf32>, tensor<6x1x2xf32>, "
      "tensor<6xi32>, tensor<3x1x3xf32>, tensor<3x1x2xf32>) -> "
      "(tensor<6x1x2xf32>, tensor<3x1x3xf32>, tensor<3x1x2xf32>)\n"
      "  return %y : tensor<6x1x2xf32>\n}\n";
  Tensor<double> q({6, 1, 3}), k({6, 1, 3}), v({6, 1, 2});
  for (int64_t t = 0; t < 6; ++t) {
    for (int64_t i = 0; i < 3; ++i) {
      q(t, 0, i) = std::sin(0.3 + 0.7 * t + 1.1 * i);
      k(t, 0, i) = std::cos(0.2 + 0.5 * t + 0.9 * i);
    }
    for (int64_t i = 0; i < 2; ++i)
      v(t, 0, i) = std::sin(0.1 + 0.4 * t - 0.6 * i);
  }
  std::optional<FormChoice> forms[] = {std::nullopt, FormChoice::Step,
                                       FormChoice::Quadratic,
                                       FormChoice::Chunkwise};
  for (std::optional<FormChoice> form : forms) {
    Program program(text);
    if (form) {
      PassManager manager(program.getContext());
      manager.addPass(createExpandFormPass({*form, 2}));
      ASSERT_TRUE(succeeded(manager.run(program.getModule())));
    }
    auto results = program.evaluate<double>(
        {q, k, v, Tensor<int32_t>({6}, {0, 1, 2, 3, 4, 5}),
         Tensor<double>({3, 1, 3}), Tensor<double>({3, 1, 2})});
    ASSERT_EQ(results.size(), 1u);
    const Tensor<double> &y = numbers(results[0]);
    EXPECT_NEAR(y(5, 0, 0), 0.938424461, 1e-9);
    EXPECT_NEAR(y(5, 0, 1), 0.856119916, 1e-9);
    double sum = std::accumulate(y.elements().begin(), y.elements().end(), 0.0);
    EXPECT_NEAR(sum, 4.177690799, 1e-9);
  }
}

} // namespace
