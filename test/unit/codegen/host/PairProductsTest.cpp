// Products of bf16 on the host: rows rounded to the nearest bf16, halves to even, times
// weights in bf16, with sums in f32.
#include "test/unit/codegen/host/HeadModel.h"
#include "test/unit/codegen/host/PlanRunner.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <random>

using namespace effc;
using namespace effc::test;

namespace {

constexpr int64_t kVocabulary = 7, kOutputs = 29;

// By the bits: half of the last kept place is added, and one less where it is even.
float nearestBf16(float number) {
  auto bits = std::bit_cast<uint32_t>(number);
  bits += 0x7fff + (bits >> 16 & 1);
  return std::bit_cast<float>(bits & 0xffff0000);
}

/// Widths of whole registers of pairs, of a rest below and above half of one.
class PairProducts : public testing::TestWithParam<int64_t> {};

TEST_P(PairProducts, AreThoseOfRoundedRows) {
  if (!testTarget().multipliesBf16)
    GTEST_SKIP() << "the level has no products of bf16";
  const int64_t width = GetParam();
  TestModel text(headModel("bf16", kVocabulary, width, kOutputs));
  ASSERT_EQ(text.getErrors(), "");
  PipelineOptions options;
  options.prefillRows = {16};
  options.decodeRows = {1, 3};
  options.products = Products::BF16;
  PlanRunner runner(text, options, /*slots=*/3);
  std::mt19937_64 random(17 + width);
  std::normal_distribution<float> normal(0, 1);
  std::vector<float> table(kVocabulary * width), matrix(kOutputs * width);
  for (float &number : table)
    number = normal(random);
  // Exactly between two, of which one or the other is even.
  table[0] = 1 + 0x1p-8f, table[1] = 1 + 3 * 0x1p-8f;
  for (float &number : matrix)
    number = nearestBf16(normal(random));
  runner.setWeight("table", table);
  runner.setWeight("matrix", matrix);
  double worst = 0, unrounded = 0;
  auto check = [&](const std::vector<float> &found,
                   const std::vector<int32_t> &tokens) {
    ASSERT_EQ(found.size(), tokens.size() * kOutputs);
    for (size_t t = 0; t < tokens.size(); ++t)
      for (int64_t i = 0; i < kOutputs; ++i) {
        double rounded = 0, exact = 0, magnitude = 0;
        for (int64_t k = 0; k < width; ++k) {
          double x = table[tokens[t] * width + k], w = matrix[i * width + k];
          rounded += nearestBf16(float(x)) * w;
          exact += x * w;
          magnitude += std::fabs(x * w);
        }
        float y = found[t * kOutputs + i];
        worst = std::max(worst, std::fabs(y - rounded) / magnitude);
        unrounded = std::max(unrounded, std::fabs(y - exact) / magnitude);
      }
  };
  std::vector<int32_t> tokens = {3, 0, 6, 1, 2, 5, 4, 0, 1};
  std::vector<float> together = runner.prefill({{.tokens = tokens}});
  check(together, tokens);
  // A sum of so many f32 loses less than its terms' last places; rounding loses 2^-9
  // of each term.
  EXPECT_LT(worst, 0x1p-20);
  EXPECT_GT(unrounded, 0x1p-14);
  for (size_t t = 0; t < tokens.size(); ++t) {
    std::vector<float> alone = runner.decode({{.tokens = {tokens[t]}}});
    EXPECT_EQ(alone,
              std::vector<float>(together.begin() + int64_t(t) * kOutputs,
                                 together.begin() + int64_t(t + 1) * kOutputs));
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, PairProducts, testing::Values(64, 75, 93, 7));

} // namespace
