// Products with banded matrices, compiled, agree with the sum over the band,
// and their bits do not depend on how sequences are packed and cut.
//
// The model looks everything up: tokens, the vectors of rows and columns, and
// the log-decays.
#include "test/unit/contract/LinearCase.h"
#include "test/unit/contract/MoreShapes.h"
#include "test/unit/contract/NarrowNumbers.h"
#include "test/unit/contract/Sequences.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace effc;
using namespace effc::test;
using seq::reference::Datum;
using seq::reference::Tensor;

namespace {

constexpr int64_t kTableRows = 53, kTokens = 45;

/// A band of W over a matrix of rank N for H heads of V channels.
struct Case {
  int64_t W, H, N, V;
  bool decays;
  const char *element = "f32"; // of the tables
};

std::string n(int64_t number) { return std::to_string(number); }

std::string modelText(const Case &c) {
  auto matrix = [&](int64_t rank, std::string decay, bool band) {
    return "!seq.semiseparable<heads = " + n(c.H) + ", rank = " + n(rank) +
           ", decay = " + decay + (band ? ", band = " + n(c.W) : "") + ">";
  };
  std::string text, body;
  // A table, and a row of it for each token, in heads.
  auto lookUp = [&](std::string name, int64_t channels) -> std::string {
    std::string table = "tensor<" + n(kTableRows) + "x" + n(c.H * channels) +
                        "x" + c.element + ">";
    std::string flat = "tensor<?x" + n(c.H * channels) + "xf32>";
    std::string heads =
        "tensor<?x" + n(c.H) + (name == "g" ? "" : "x" + n(channels)) + "xf32>";
    text +=
        "seq.weight @" + name + " source(\"" + name + "\") : " + table + "\n";
    body += "  %" + name + "0 = seq.parameter @" + name + " : " + table +
            "\n  %" + name + "1 = seq.embedding %tokens, %" + name +
            "0 : (tensor<?xi32>, " + table + ") -> " + flat + "\n  %" + name +
            " = seq.reshape %" + name + "1 : " + flat + " -> " + heads + "\n";
    return heads;
  };
  std::string x = lookUp("x", c.V), rows = lookUp("c", c.N);
  lookUp("b", c.N);
  std::string g = lookUp("g", 1), flat = "tensor<?x" + n(c.H * c.V) + "xf32>";
  std::string band = matrix(1, "none", true), rank = matrix(c.N, "none", false),
              banded = matrix(c.N, "none", true), whole = banded;
  body += "  %band = seq.band_matrix -> " + band +
          "\n  %cb = seq.rank_matrix rows(%c : " + rows +
          ") columns(%b : " + rows + ") -> " + rank +
          "\n  %m0 = seq.hadamard %cb, %band : " + rank + ", " + band + " -> " +
          banded + "\n";
  if (c.decays) {
    std::string mask = matrix(1, "head", false);
    whole = matrix(c.N, "head", true);
    body += "  %mask = seq.decay_matrix %g : " + g + " -> " + mask +
            "\n  %m = seq.hadamard %m0, %mask : " + banded + ", " + mask +
            " -> " + whole + "\n";
  }
  std::string keys = "tensor<" + n(c.H) + "x" + n(c.N) + "x" + n(c.W) + "xf32>";
  std::string values =
      "tensor<" + n(c.H) + "x" + n(c.W) + "x" + n(c.V) + "xf32>";
  return text +
         "func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>, "
         "%p: tensor<?xi32>, %keys: " +
         keys + " {seq.state_name = \"keys\"}, %values: " + values +
         " {seq.state_name = \"values\"}) -> (" + flat + ", " + keys + ", " +
         values + ") {\n" + body + "  %y, %k, %v = seq.apply_band " +
         (c.decays ? "%m" : "%m0") +
         ", %x positions(%p) states(%keys, %values) : " + whole + ", " + x +
         ", tensor<?xi32>, " + keys + ", " + values +
         "\n  %y0 = seq.reshape %y : " + x + " -> " + flat +
         "\n  %out = seq.select_rows %y0, %rows : (" + flat +
         ", tensor<?xi32>) -> " + flat + "\n  return %out, %k, %v : " + flat +
         ", " + keys + ", " + values + "\n}\n";
}

class BandedProduct {
public:
  explicit BandedProduct(const Case &c) : c(c), model(modelText(c)) {
    std::mt19937_64 random(c.W * 100 + c.N);
    std::uniform_real_distribution<float> element(-1, 1);
    for (auto [name, channels] :
         {std::pair("x", c.V), {"c", c.N}, {"b", c.N}, {"g", 1}})
      for (int64_t i = 0; i < kTableRows * c.H * channels; ++i)
        weights[name].push_back(element(random));
    // Mild, strong, and so strong that nothing is left.
    for (auto [i, logDecay] : llvm::enumerate(weights["g"]))
      logDecay = i % 11 == 5  ? -1e4
                 : i % 7 == 3 ? -6
                              : -std::fabs(logDecay) / 4;
    if (llvm::StringRef(c.element) == "bf16")
      for (auto &[name, elements] : weights)
        for (float &element : elements)
          element = roundToBf16(element);
  }

  PlanRunner compile(bool bitStable = false) {
    return compileForThree(model, weights, bitStable);
  }

  int64_t width() const { return c.H * c.V; }

  /// The sum over the band, pair by pair.
  std::vector<double> expected(llvm::ArrayRef<int32_t> tokens) const {
    auto at = [&](const char *name, int64_t t, int64_t h, int64_t channels,
                  int64_t i) -> double {
      return weights.at(name)[(tokens[t] * c.H + h) * channels + i];
    };
    int64_t count = tokens.size();
    std::vector<double> y(count * width());
    for (int64_t i = 0; i < count; ++i)
      for (int64_t h = 0; h < c.H; ++h)
        for (int64_t j = std::max<int64_t>(0, i - c.W + 1); j <= i; ++j) {
          double logDecay = 0, dot = 0;
          for (int64_t s = j + 1; s <= i && c.decays; ++s)
            logDecay += at("g", s, h, 1, 0);
          for (int64_t k = 0; k < c.N; ++k)
            dot += at("c", i, h, c.N, k) * at("b", j, h, c.N, k);
          for (int64_t v = 0; v < c.V; ++v)
            y[(i * c.H + h) * c.V + v] +=
                std::exp(logDecay) * dot * at("x", j, h, c.V, v);
        }
    return y;
  }

  std::vector<double> reference(llvm::ArrayRef<int32_t> tokens) {
    int64_t count = tokens.size();
    Tensor<int32_t> rows = countFromZero(count);
    std::vector<Datum<double>> inputs = {
        Tensor<int32_t>({count}, tokens.vec()), rows, rows,
        Tensor<double>({c.H, c.N, c.W}), Tensor<double>({c.H, c.W, c.V})};
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
  double difference = 0, magnitude = 0;
  for (auto [a, b] : llvm::zip_equal(found, expected)) {
    difference =
        std::isnan(a) ? INFINITY : std::fmax(difference, std::fabs(a - b));
    magnitude = std::fmax(magnitude, std::fabs(b));
  }
  EXPECT_LE(difference / magnitude, tolerance);
}

// One token, some, about a chunk, and more than there are.
constexpr Case kShapes[] = {{1, 3, 2, 5, true},    {4, 2, 3, 8, true},
                            {7, 3, 1, 33, false},  {15, 5, 6, 31, false},
                            {16, 2, 9, 20, true},  {17, 4, 8, 16, true},
                            {44, 1, 19, 64, true}, {64, 1, 5, 130, true}};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char *element : {"f32", "bf16"})
    for (Case c : kShapes) {
      c.element = element;
      all.push_back(c);
    }
  Random random(20261126);
  for (int64_t i = moreShapes(); i > 0; --i)
    all.push_back({pick(random, 1, 80), pick(random, 1, 5), pick(random, 1, 20),
                   pick(random, 1, 150), pick(random, 0, 1) == 1,
                   i % 2 ? "f32" : "bf16"});
  return all;
}

class Band : public testing::TestWithParam<Case> {};

TEST_P(Band, AgreesWithTheSum) {
  BandedProduct product(GetParam());
  PlanRunner runner = product.compile();
  ASSERT_EQ(product.model.getErrors(), "");
  std::vector<Tokens> sequences = {tokensOf(2, 3, kTableRows),
                                   tokensOf(17, 5, kTableRows),
                                   tokensOf(kTokens, 11, kTableRows)};
  auto outputs = runTogether(runner, sequences, product.width());
  for (auto [tokens, found] : llvm::zip_equal(sequences, outputs)) {
    std::vector<double> expected = product.expected(tokens);
    expectNear<double>(product.reference(tokens), expected, 1e-12);
    expectNear<float>(found, expected, 1e-5);
  }
}

TEST_P(Band, SameBitsInAnyPieces) {
  BandedProduct product(GetParam());
  PlanRunner runner = product.compile(/*bitStable=*/true);
  ASSERT_EQ(product.model.getErrors(), "");
  expectSameBitsInAnyPieces(runner, tokensOf(kTokens, 2, kTableRows),
                            tokensOf(9, 4, kTableRows), product.width());
}

std::string nameOf(const testing::TestParamInfo<Case> &info) {
  return n(info.index) + "_W" + n(info.param.W) + "_N" + n(info.param.N) + "_" +
         info.param.element;
}

INSTANTIATE_TEST_SUITE_P(Matrices, Band, testing::ValuesIn(cases()), nameOf);

} // namespace
