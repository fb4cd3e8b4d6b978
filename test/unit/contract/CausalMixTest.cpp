// seq.causal_mix agrees with the sum over positions, its compiled kernels agree
// with its definition, and their bits do not depend on how sequences are packed
// and cut.
//
// The model of the kernels is an embedding, the mix with its residual and a
// choice of rows. The limit of positions is no multiple of a block of the
// state's rows.
#include "test/unit/contract/LinearCase.h"
#include "test/unit/contract/NarrowNumbers.h"
#include "test/unit/contract/Sequences.h"
#include "test/unit/dialects/seq/Program.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>
#include <set>

using namespace effc;
using namespace effc::test;
using seq::reference::Datum;
using seq::reference::Tensor;

namespace {

constexpr int64_t kTableRows = 53, kLimit = 45;

std::string n(int64_t number) { return std::to_string(number); }

//===- the definition -----------------------------------------------------===//

/// `T` tokens of width `D` at positions from `start` on, `P` of which there may
/// be, `M` weights for each pair of them; 0: one, with a bias.
struct Shape {
  int64_t T, start, P, D, M;
};

std::string opText(const Shape &s, int64_t tokens) {
  std::string weight = "tensor<" + n(s.P) + "x" + n(s.P) +
                       (s.M ? "x" + n(s.M) : "") + "xf32>",
              state = "tensor<" + n(s.P) + "x" + n(s.D) + "xf32>",
              x = "tensor<" + n(tokens) + "x" + n(s.D) + "xf32>",
              positions = "tensor<" + n(tokens) + "xi32>",
              bias = "tensor<" + n(s.P) + "xf32>",
              y = s.M ? "tensor<" + n(tokens) + "x" + n(s.M) + "x" + n(s.D) +
                            "xf32>"
                      : x;
  return "func.func @f(%x: " + x + ", %p: " + positions + ", %w: " + weight +
         ", %b: " + bias + ", %s: " + state + ") -> (" + y + ", " + state +
         ") {\n  %y, %n = seq.causal_mix %x positions(%p) parameters(%w" +
         (s.M ? "" : ", %b") + ") state(%s) : (" + x + ", " + positions + ", " +
         weight + (s.M ? "" : ", " + bias) + ", " + state + ") -> (" + y +
         ", " + state + ")\n  return %y, %n : " + y + ", " + state + "\n}\n";
}

/// The numbers of a shape, with those of the positions before it.
struct Numbers {
  Numbers(const Shape &s, Random &random) : x({s.start + s.T, s.D}) {
    weight = Tensor<double>(s.M ? std::vector<int64_t>{s.P, s.P, s.M}
                                : std::vector<int64_t>{s.P, s.P});
    bias = Tensor<double>({s.P});
    for (Tensor<double> *tensor : {&x, &weight, &bias})
      for (double &element : tensor->elements())
        element = float(pickReal(random, -1, 1));
  }
  Tensor<double> x, weight, bias;
};

/// Row p of the result: the sum over all positions up to it.
std::vector<double> sumUpTo(const Shape &s, const Numbers &all, int64_t p) {
  int64_t sums = std::max<int64_t>(s.M, 1);
  std::vector<double> row;
  for (int64_t m = 0; m < sums; ++m)
    for (int64_t d = 0; d < s.D; ++d) {
      double sum = s.M ? 0 : all.bias(p);
      for (int64_t from = 0; from <= p; ++from)
        sum +=
            all.weight.elements()[(p * s.P + from) * sums + m] * all.x(from, d);
      row.push_back(sum);
    }
  return row;
}

/// The rows of `pieces`, which follow the tokens before `start` and hand on the
/// state, then the last state.
template <typename S>
std::vector<double> evaluate(const Shape &s, const Numbers &all,
                             llvm::ArrayRef<int64_t> pieces) {
  // What was before, and in rows that nobody has written, anything.
  Tensor<S> state({s.P, s.D});
  for (int64_t p = 0; p < s.P; ++p)
    for (int64_t d = 0; d < s.D; ++d)
      state(p, d) = p < s.start ? S(all.x(p, d)) : S(1e3);
  std::vector<double> rows;
  int64_t at = s.start;
  for (int64_t length : pieces) {
    Tensor<S> x({length, s.D});
    Tensor<int32_t> positions({length});
    for (int64_t t = 0; t < length; ++t) {
      positions(t) = at + t;
      for (int64_t d = 0; d < s.D; ++d)
        x(t, d) = S(all.x(at + t, d));
    }
    at += length;
    auto results =
        seq::test::Program(opText(s, length))
            .evaluate<S>({x, positions, seq::test::castTo<S>(all.weight),
                          seq::test::castTo<S>(all.bias), state});
    llvm::append_range(rows, seq::test::numbers(results[0]).elements());
    state = seq::test::numbers(results[1]);
  }
  // Rows of positions so far are the state.
  for (int64_t p = 0; p < s.start + s.T; ++p)
    for (int64_t d = 0; d < s.D; ++d)
      rows.push_back(state(p, d));
  return rows;
}

Shape pickShape(Random &random) {
  while (true) {
    Shape s{pick(random, 1, 60), pick(random, 0, 2) ? pick(random, 1, 40) : 0,
            0, pick(random, 1, 9), pick(random, 0, 1) ? pick(random, 2, 5) : 0};
    s.P = s.start + s.T + pick(random, 0, 7);
    if (std::set<int64_t>{s.T, s.P, s.D, s.M}.size() == 4)
      return s;
  }
}

double error(llvm::ArrayRef<double> found, llvm::ArrayRef<double> expected) {
  double difference = found.size() == expected.size() ? 0 : INFINITY,
         magnitude = 0;
  for (auto [a, b] : llvm::zip(found, expected)) {
    difference =
        std::isnan(a) ? INFINITY : std::fmax(difference, std::fabs(a - b));
    magnitude = std::fmax(magnitude, std::fabs(b));
  }
  return difference / magnitude;
}

TEST(CausalMixDefinition, IsTheSumOverPositions) {
  Random random(20261123);
  double worstDouble = 0, worstFloat = 0;
  for (int i = 0; i < 200; ++i) {
    Shape s = pickShape(random);
    Numbers all(s, random);
    std::vector<double> expected;
    for (int64_t t = 0; t < s.T; ++t)
      llvm::append_range(expected, sumUpTo(s, all, s.start + t));
    llvm::append_range(expected, all.x.elements());
    std::vector<int64_t> pieces;
    for (int64_t left = s.T; left > 0; left -= pieces.back())
      pieces.push_back(pick(random, 1, left));
    for (llvm::ArrayRef<int64_t> cut : {llvm::ArrayRef(s.T), {pieces}}) {
      worstDouble = std::fmax(worstDouble,
                              error(evaluate<double>(s, all, cut), expected));
      worstFloat =
          std::fmax(worstFloat, error(evaluate<float>(s, all, cut), expected));
    }
  }
  EXPECT_LE(worstDouble, 1e-12);
  EXPECT_LE(worstFloat, 1e-5);
}

//===- the kernels --------------------------------------------------------===//

std::string modelText(int64_t width, bool hasBias, const std::string &element) {
  std::string table = "tensor<" + n(kTableRows) + "x" + n(width) + "x" +
                      element + ">",
              weight = "tensor<" + n(kLimit) + "x" + n(kLimit) + "xf32>",
              bias = "tensor<" + n(kLimit) + "xf32>",
              state = "tensor<" + n(kLimit) + "x" + n(width) + "xf32>",
              x = "tensor<?x" + n(width) + "xf32>";
  return "seq.weight @table source(\"table\") : " + table +
         "\nseq.weight @weight source(\"weight\") : " + weight +
         "\nseq.weight @bias source(\"bias\") : " + bias +
         "\nfunc.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, "
         "%p: tensor<?xi32>, %inputs: " +
         state + " {seq.state_name = \"inputs\"}) -> (" + x + ", " + state +
         ") {\n  %table = seq.parameter @table : " + table +
         "\n  %w = seq.parameter @weight : " + weight +
         "\n  %b = seq.parameter @bias : " + bias +
         "\n  %x = seq.embedding %tokens, %table : (tensor<?xi32>, " + table +
         ") -> " + x +
         "\n  %y, %n = seq.causal_mix %x positions(%p) "
         "parameters(%w" +
         (hasBias ? ", %b" : "") + ") state(%inputs) : (" + x +
         ", tensor<?xi32>, " + weight + (hasBias ? ", " + bias : "") + ", " +
         state + ") -> (" + x + ", " + state +
         ")\n  %z = seq.add %x, %y : " + x +
         "\n  %out = seq.select_rows %z, %rows : (" + x +
         ", tensor<?xi32>) -> " + x + "\n  return %out, %n : " + x + ", " +
         state + "\n}\n";
}

class CausalMix {
public:
  CausalMix(int64_t width, bool hasBias, const std::string &element)
      : width(width), model(modelText(width, hasBias, element)) {
    std::mt19937_64 random(width);
    std::uniform_real_distribution<float> number(-1, 1);
    for (auto [name, size] : {std::pair("table", kTableRows * width),
                              {"weight", kLimit * kLimit},
                              {"bias", kLimit}})
      for (int64_t i = 0; i < size; ++i)
        weights[name].push_back(number(random));
    if (element == "bf16")
      for (float &entry : weights["table"])
        entry = roundToBf16(entry);
  }

  PlanRunner compile() { return compileForThree(model, weights); }

  /// The outputs of all tokens by the definition.
  std::vector<double> expected(llvm::ArrayRef<int32_t> tokens) {
    int64_t count = tokens.size();
    Tensor<int32_t> rows = countFromZero(count);
    std::vector<Datum<double>> inputs = {Tensor<int32_t>({count}, tokens.vec()),
                                         rows, rows,
                                         Tensor<double>({kLimit, width})};
    auto results = model.evaluate(inputs, weights);
    return std::get<Tensor<double>>(results[0]).elements().vec();
  }

  int64_t width;
  TestModel model;

private:
  llvm::StringMap<std::vector<float>> weights;
};

void expectNear(llvm::ArrayRef<float> found, llvm::ArrayRef<double> expected) {
  ASSERT_EQ(found.size(), expected.size());
  // Up to 45 terms of at most 1, rounded to f32.
  for (auto [a, b] : llvm::zip_equal(found, expected))
    ASSERT_LE(std::fabs(a - b), 45 * 45 * 6e-8);
}

/// The channels, and what tables are stored as; the mix has weights of f32.
using Variant = std::tuple<int64_t, std::string>;

class CausalMixKernels : public testing::TestWithParam<Variant> {
protected:
  int64_t width() const { return std::get<0>(GetParam()); }
  CausalMix mix(bool hasBias) const {
    return CausalMix(width(), hasBias, std::get<1>(GetParam()));
  }
};

TEST_P(CausalMixKernels, AgreeWithTheDefinition) {
  CausalMix mix = this->mix(/*hasBias=*/width() % 3 != 2);
  PlanRunner runner = mix.compile();
  ASSERT_EQ(mix.model.getErrors(), "");
  std::vector<Tokens> sequences = {tokensOf(2, 3, kTableRows),
                                   tokensOf(18, 5, kTableRows),
                                   tokensOf(kLimit, 11, kTableRows)};
  auto outputs = runTogether(runner, sequences, mix.width);
  for (auto [tokens, found] : llvm::zip_equal(sequences, outputs))
    expectNear(found, mix.expected(tokens));
}

TEST_P(CausalMixKernels, SameBitsInAnyPieces) {
  CausalMix mix = this->mix(/*hasBias=*/true);
  PlanRunner runner = mix.compile();
  ASSERT_EQ(mix.model.getErrors(), "");
  expectSameBitsInAnyPieces(runner, tokensOf(kLimit, 2, kTableRows),
                            tokensOf(9, 4, kTableRows), mix.width);
}

// About the width of a vector, and below, at and above an item's block of 128
// channels.
INSTANTIATE_TEST_SUITE_P(Widths, CausalMixKernels,
                         testing::Combine(testing::Values(1, 5, 16, 31, 127,
                                                          128, 129, 200),
                                          testing::Values("f32", "bf16")),
                         [](const auto &info) {
                           return "D" + n(std::get<0>(info.param)) + "_" +
                                  std::get<1>(info.param);
                         });

} // namespace
