// Products with a matrix for each block of channels, compiled, agree with their
// formula in double, whatever the shapes leave over, and with the same bits for
// any rows of a call.
#include "test/unit/codegen/host/PlanRunner.h"
#include "test/unit/contract/RetrievalCase.h"

#include "gtest/gtest.h"

#include <cmath>
#include <numeric>

using namespace effc;
using namespace effc::test;
using seq::reference::Datum;
using seq::reference::Tensor;
using Segment = PlanRunner::Segment;

namespace {

constexpr int64_t kTokens = 19;

/// H blocks of I channels, each to O.
struct Case {
  int64_t H, I, O;
  bool narrow, bias;
};

std::string n(int64_t number) { return std::to_string(number); }

// An item has 12 outputs, or 24 for few rows, and 8 of the inputs are a vector.
constexpr Case kCases[] = {{1, 8, 12, false, true},   {3, 5, 7, false, true},
                           {10, 16, 16, true, true},  {4, 37, 30, true, false},
                           {2, 1, 25, false, false},  {5, 64, 1, true, true},
                           {2, 130, 49, true, false}, {6, 9, 24, false, true}};

/// The gate of a channel: a logistic function of the product, times what is
/// read beside it, where the rows fit.
std::string modelText(const Case &c, bool gated) {
  std::string flat = "tensor<?x" + n(c.H * c.I) + "xf32>",
              x = "tensor<?x" + n(c.H) + "x" + n(c.I) + "xf32>",
              y = "tensor<?x" + n(c.H) + "x" + n(c.O) + "xf32>",
              out = "tensor<?x" + n(c.H * c.O) + "xf32>",
              table = "tensor<" + n(kTokens) + "x" + n(c.H * c.I) + "xf32>",
              others = "tensor<" + n(kTokens) + "x" + n(c.H * c.O) + "xf32>",
              weight = "tensor<" + n(c.H) + "x" + n(c.O) + "x" + n(c.I) + "x" +
                       (c.narrow ? "bf16" : "f32") + ">",
              bias = "tensor<" + n(c.H) + "x" + n(c.O) + "xf32>";
  std::string model, body;
  for (auto [name, type] : {std::pair("table", table),
                            {"others", others},
                            {"w", weight},
                            {"b", bias}}) {
    model += "seq.weight @" + std::string(name) + " source(\"" + name +
             "\") : " + type + "\n";
    body += "  %" + std::string(name) + " = seq.parameter @" + name + " : " +
            type + "\n";
  }
  std::string epilogue =
      gated
          ? "  %s = seq.sigmoid %p : " + y +
                "\n  %e0 = seq.embedding %tokens, %others : (tensor<?xi32>, " +
                others + ") -> " + out + "\n  %e = seq.reshape %e0 : " + out +
                " -> " + y + "\n  %y = seq.mul %s, %e : " + y + "\n"
          : "  %y = seq.neg %p : " + y + "\n";
  return model +
         "func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) "
         "-> " +
         out + " {\n" + body +
         "  %x0 = seq.embedding %tokens, %table : (tensor<?xi32>, " + table +
         ") -> " + flat + "\n  %x = seq.reshape %x0 : " + flat + " -> " + x +
         "\n  %p = seq.linear %x, %w" + (c.bias ? " bias(%b)" : "") + " : (" +
         x + ", " + weight + (c.bias ? ", " + bias : "") + ") -> " + y + "\n" +
         epilogue + "  %y0 = seq.reshape %y : " + y + " -> " + out +
         "\n  %out = seq.select_rows %y0, %rows : (" + out +
         ", tensor<?xi32>) -> " + out + "\n  return %out : " + out + "\n}\n";
}

/// A number that bf16 has.
float narrowed(float value) {
  return llvm::bit_cast<float>(llvm::bit_cast<uint32_t>(value) & 0xffff0000);
}

class BlockDiagonal : public testing::TestWithParam<std::tuple<Case, bool>> {};

TEST_P(BlockDiagonal, AgreesWithTheFormula) {
  auto [c, gated] = GetParam();
  TestModel model(modelText(c, gated));
  PipelineOptions options;
  options.prefillRows = {kTokens};
  options.decodeRows = {1, 3, 8};
  // Where it is not the default, a single row has a kernel of its own.
  PlanRunner single(model, options, /*slots=*/8);
  options.bitStableOnGpu = true;
  PlanRunner runner(model, options, /*slots=*/8);
  ASSERT_EQ(model.getErrors(), "");
  Random random(c.H * 1000 + c.O);
  llvm::StringMap<std::vector<float>> weights;
  for (auto [name, size] : {std::pair("table", kTokens * c.H * c.I),
                            {"others", kTokens * c.H * c.O},
                            {"w", c.H * c.O * c.I},
                            {"b", c.H * c.O}}) {
    for (int64_t i = 0; i < size; ++i)
      weights[name].push_back(narrowed(pickReal(random, -1, 1)));
    runner.setWeight(name, weights[name]);
    single.setWeight(name, weights[name]);
  }

  std::vector<double> expected;
  for (int64_t t = 0; t < kTokens; ++t)
    for (int64_t h = 0; h < c.H; ++h)
      for (int64_t o = 0; o < c.O; ++o) {
        double sum = c.bias ? weights["b"][h * c.O + o] : 0;
        for (int64_t i = 0; i < c.I; ++i)
          sum += double(weights["table"][(t * c.H + h) * c.I + i]) *
                 weights["w"][(h * c.O + o) * c.I + i];
        expected.push_back(gated ? weights["others"][(t * c.H + h) * c.O + o] /
                                       (1 + std::exp(-sum))
                                 : -sum);
      }

  std::vector<int32_t> tokens(kTokens);
  std::iota(tokens.begin(), tokens.end(), 0);
  Tensor<int32_t> all({kTokens}, tokens);
  std::vector<Datum<double>> results = model.evaluate({all, all}, weights);
  llvm::ArrayRef<double> reference =
      std::get<Tensor<double>>(results[0]).elements();
  std::vector<float> whole = runner.prefill(Segment{.tokens = tokens});
  ASSERT_EQ(whole.size(), expected.size());
  // Sums of I + 1 terms of at most 1, rounded to f32.
  double tolerance = (c.I + 1) * (c.I + 1) * 6e-8;
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(reference[i], expected[i], 1e-12);
    ASSERT_NEAR(whole[i], expected[i], tolerance);
  }

  for (int64_t t = 0; t < kTokens; ++t) {
    std::vector<float> row = single.decode(Segment{.tokens = {tokens[t]}});
    for (size_t i = 0; i < row.size(); ++i)
      ASSERT_NEAR(row[i], expected[t * row.size() + i], tolerance);
  }

  // One row at a time, three, and eight, of which the last are no more.
  for (size_t count : {1, 3, 8}) {
    std::vector<float> decoded;
    for (size_t first = 0; first < tokens.size(); first += count) {
      std::vector<Segment> rows;
      for (size_t t = first; t < std::min(first + count, tokens.size()); ++t)
        rows.push_back({.slot = int32_t(t - first), .tokens = {tokens[t]}});
      llvm::append_range(decoded, runner.decode(rows));
    }
    EXPECT_EQ(decoded, whole) << count << " rows";
  }
}

std::string nameOf(const testing::TestParamInfo<std::tuple<Case, bool>> &info) {
  auto [c, gated] = info.param;
  return n(c.H) + "x" + n(c.I) + "x" + n(c.O) + (gated ? "_gated" : "");
}

INSTANTIATE_TEST_SUITE_P(Shapes, BlockDiagonal,
                         testing::Combine(testing::ValuesIn(kCases),
                                          testing::Bool()),
                         nameOf);

} // namespace
