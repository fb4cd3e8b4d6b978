// Token mixers whose kernels are several channels wide: a masked mixer and the
// columns of a structured recurrence, compiled, agree with their formulas, and
// their bits do not depend on how sequences are packed and cut.
//
// The models are an embedding, the mixer with its residual and a choice of
// rows. Kernels may be wider than a token has channels.
#include "test/unit/contract/Sequences.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace effc;
using namespace effc::test;
using seq::reference::Datum;
using seq::reference::Tensor;

namespace {

constexpr int64_t kTableRows = 53, kLimit = 37;
constexpr double kLogDecay = -0.0625; // a number of f32

/// A mixer, what it computes on, and how wide its kernel is.
struct Case {
  enum Kind { Masked, Columns, SharedTaps } kind;
  int64_t channels, taps;
};

std::string tensor(std::initializer_list<int64_t> shape) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += (size < 0 ? "?" : std::to_string(size)) + "x";
  return text + "f32>";
}

/// What is between %x and %y, and the shape of the state.
struct Text {
  std::string state, body;
};

Text maskedMixer(int64_t D, int64_t M) {
  std::string state = tensor({kLimit, D}), sums = tensor({-1, M, D}),
              x = tensor({-1, D}), weight = tensor({kLimit, kLimit, M});
  return {state,
          "  %m, %n = seq.causal_mix %x positions(%p) parameters(%w) "
          "state(%s) : (" +
              x + ", tensor<?xi32>, " + weight + ", " + state + ") -> (" +
              sums + ", " + state +
              ")\n  %y = seq.channel_convolution %m bias(%b) {before = " +
              std::to_string((M - 1) / 2) + " : i64} : (" + sums +
              ", tensor<?xf32>) -> " + x + "\n"};
}

Text columns(int64_t D, int64_t M, bool sharedTaps) {
  std::string state = tensor({1, 1, D}), x = tensor({-1, D}),
              heads = tensor({-1, 1, D}), rows = tensor({-1, M});
  std::string taps =
      sharedTaps
          ? "  %like = seq.slice %x {axis = 1 : i64, offset = 0 : i64, size "
            "= " +
                std::to_string(M) + " : i64} : " + x + " -> " + rows +
                "\n  %t = seq.broadcast %w along %like {dimensions = "
                "array<i64: 1>} : " +
                tensor({M}) + ", " + rows + "\n"
          : "  %t = seq.embedding %p, %w : (tensor<?xi32>, " +
                tensor({kLimit, M}) + ") -> " + rows + "\n";
  return {state,
          "  %h = seq.reshape %x : " + x + " -> " + heads + "\n" + taps +
              "  %r, %n = seq.structured_recurrence %h decay(%g) state(%s) : "
              "(" +
              heads + ", tensor<1xf32>, " + state + ") -> (" + heads + ", " +
              state + ")\n  %f = seq.reshape %r : " + heads + " -> " + x +
              "\n  %y = seq.channel_convolution %f weight(%t) bias(%b) "
              "{before = " +
              std::to_string(M - 1) + " : i64} : (" + x + ", " + rows +
              ", tensor<?xf32>) -> " + x + "\n"};
}

std::vector<int64_t> weightShape(const Case &c) {
  switch (c.kind) {
  case Case::Masked:
    return {kLimit, kLimit, c.taps};
  case Case::Columns:
    return {kLimit, c.taps};
  case Case::SharedTaps:
    return {c.taps};
  }
  return {};
}

std::string modelText(const Case &c) {
  Text text = c.kind == Case::Masked
                  ? maskedMixer(c.channels, c.taps)
                  : columns(c.channels, c.taps, c.kind == Case::SharedTaps);
  std::string table = tensor({kTableRows, c.channels}),
              x = tensor({-1, c.channels}), bias = tensor({kLimit, 1}),
              weight = "tensor<";
  for (int64_t size : weightShape(c))
    weight += std::to_string(size) + "x";
  weight += "f32>";
  std::string model, body;
  for (auto [name, type] : {std::pair("table", table),
                            {"w", weight},
                            {"biases", bias},
                            {"g", std::string("tensor<1xf32>")}}) {
    model += "seq.weight @" + std::string(name) + " source(\"" + name +
             "\") : " + type + "\n";
    body += "  %" + std::string(name) + " = seq.parameter @" + name + " : " +
            type + "\n";
  }
  return model +
         "func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, "
         "%p: tensor<?xi32>, %s: " +
         text.state + " {seq.state_name = \"state\"}) -> (" + x + ", " +
         text.state + ") {\n" + body +
         "  %x = seq.embedding %tokens, %table : (tensor<?xi32>, " + table +
         ") -> " + x +
         "\n  %b1 = seq.embedding %p, %biases : (tensor<?xi32>, " + bias +
         ") -> tensor<?x1xf32>\n  %b = seq.reshape %b1 : "
         "tensor<?x1xf32> -> tensor<?xf32>\n" +
         text.body + "  %z = seq.add %x, %y : " + x +
         "\n  %out = seq.select_rows %z, %rows : (" + x +
         ", tensor<?xi32>) -> " + x + "\n  return %out, %n : " + x + ", " +
         text.state + "\n}\n";
}

class WideMixer {
public:
  explicit WideMixer(const Case &c) : c(c), model(modelText(c)) {
    std::mt19937_64 random(c.channels * 100 + c.taps);
    std::uniform_real_distribution<float> element(-1, 1);
    std::vector<int64_t> shape = weightShape(c);
    int64_t size = std::accumulate(shape.begin(), shape.end(), int64_t(1),
                                   std::multiplies<>());
    for (auto [name, count] : {std::pair("table", kTableRows * c.channels),
                               {"w", size},
                               {"biases", kLimit}})
      for (int64_t i = 0; i < count; ++i)
        weights[name].push_back(element(random));
    weights["g"] = {float(kLogDecay)};
  }

  PlanRunner compile(bool bitStable = false) {
    return compileForThree(model, weights, bitStable);
  }

  /// The outputs of all tokens by the mixer's formula: a convolution over
  /// channels of a sum over tokens.
  std::vector<double> expected(llvm::ArrayRef<int32_t> tokens) const {
    const std::vector<float> &w = weights.at("w");
    int64_t D = c.channels, M = c.taps, T = tokens.size();
    auto x = [&](int64_t t, int64_t d) -> double {
      return d < 0 || d >= D ? 0 : weights.at("table")[tokens[t] * D + d];
    };
    std::vector<double> y;
    for (int64_t t = 0; t < T; ++t)
      for (int64_t d = 0; d < D; ++d) {
        double sum = x(t, d) + weights.at("biases")[t];
        for (int64_t m = 0; m < M; ++m)
          for (int64_t s = 0; s <= t; ++s)
            sum += c.kind == Case::Masked
                       ? w[(t * kLimit + s) * M + m] * x(s, d + m - (M - 1) / 2)
                       : w[c.kind == Case::Columns ? t * M + m : m] *
                             std::exp((t - s) * kLogDecay) *
                             x(s, d + m - (M - 1));
        y.push_back(sum);
      }
    return y;
  }

  std::vector<double> reference(llvm::ArrayRef<int32_t> tokens) {
    int64_t count = tokens.size();
    Tensor<int32_t> rows = countFromZero(count);
    std::vector<int64_t> state = {kLimit, c.channels};
    if (c.kind != Case::Masked)
      state = {1, 1, c.channels};
    std::vector<Datum<double>> inputs = {Tensor<int32_t>({count}, tokens.vec()),
                                         rows, rows, Tensor<double>(state)};
    auto results = model.evaluate(inputs, weights);
    return std::get<Tensor<double>>(results[0]).elements().vec();
  }

  Case c;
  TestModel model;

private:
  llvm::StringMap<std::vector<float>> weights;
};

template <typename A>
void expectNear(llvm::ArrayRef<A> found, llvm::ArrayRef<double> expected,
                double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (auto [a, b] : llvm::zip_equal(found, expected))
    ASSERT_LE(std::fabs(a - b), tolerance);
}

// Fewer channels than taps, some vectors and a rest, more than a block.
constexpr Case kCases[] = {
    {Case::Masked, 5, 1},   {Case::Masked, 24, 2},    {Case::Masked, 130, 3},
    {Case::Masked, 200, 4}, {Case::Masked, 3, 5},     {Case::Columns, 5, 1},
    {Case::Columns, 24, 2}, {Case::Columns, 130, 3},  {Case::Columns, 3, 5},
    {Case::Columns, 1, 3},  {Case::SharedTaps, 72, 4}};

class KernelWidth : public testing::TestWithParam<Case> {};

TEST_P(KernelWidth, AgreesWithTheFormula) {
  WideMixer mixer(GetParam());
  PlanRunner runner = mixer.compile();
  ASSERT_EQ(mixer.model.getErrors(), "");
  // Sums of so many terms of at most 1, rounded to f32.
  double terms = kLimit * mixer.c.taps;
  std::vector<Tokens> sequences = {tokensOf(2, 3, kTableRows),
                                   tokensOf(18, 5, kTableRows),
                                   tokensOf(kLimit, 11, kTableRows)};
  auto outputs = runTogether(runner, sequences, mixer.c.channels);
  for (auto [tokens, found] : llvm::zip_equal(sequences, outputs)) {
    std::vector<double> expected = mixer.expected(tokens);
    expectNear<double>(mixer.reference(tokens), expected, 1e-12);
    expectNear<float>(found, expected, terms * terms * 6e-8);
  }
}

TEST_P(KernelWidth, SameBitsInAnyPieces) {
  WideMixer mixer(GetParam());
  PlanRunner runner = mixer.compile(/*bitStable=*/true);
  ASSERT_EQ(mixer.model.getErrors(), "");
  expectSameBitsInAnyPieces(runner, tokensOf(kLimit, 2, kTableRows),
                            tokensOf(9, 4, kTableRows), mixer.c.channels);
}

std::string nameOf(const testing::TestParamInfo<Case> &info) {
  const char *kinds[] = {"masked", "columns", "shared_taps"};
  return std::string(kinds[info.param.kind]) + "_" +
         std::to_string(info.param.channels) + "_" +
         std::to_string(info.param.taps);
}

INSTANTIATE_TEST_SUITE_P(Mixers, KernelWidth, testing::ValuesIn(kCases),
                         nameOf);

} // namespace
