// Log-probabilities against sums in long double.

#include "runtime/include/effc/effc.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace effc;
using Row = std::vector<float>;

static Row randomRow(size_t tokens, uint32_t seed, float spread) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(-3, spread);
  Row row(tokens);
  for (float &logit : row)
    logit = normal(random);
  return row;
}

static std::vector<effc_logprob_t> logprobs(const Row &row, int32_t token,
                                            size_t count) {
  std::vector<effc_logprob_t> found(count + 1);
  check(effc_logprobs(row.data(), static_cast<uint32_t>(row.size()), token,
                      found.data(), count));
  found.resize(count);
  return found;
}

TEST(LogProbabilities, AreThoseOfTheSoftmax) {
  for (size_t tokens : {1, 5, 33, 2051})
    for (float spread : {0.1f, 4.0f, 60.0f}) {
      Row row = randomRow(tokens, 3, spread);
      long double most = *std::max_element(row.begin(), row.end()), sum = 0;
      for (float logit : row)
        sum += std::exp(logit - most);
      std::vector<int32_t> order(tokens);
      std::iota(order.begin(), order.end(), 0);
      std::sort(order.begin(), order.end(),
                [&](int32_t a, int32_t b) { return row[a] > row[b]; });
      size_t count = std::min<size_t>(tokens, 21);
      auto token = static_cast<int32_t>(tokens / 2);
      auto found = logprobs(row, token, count + 1);
      auto expect = [&](const effc_logprob_t &one, int32_t id) {
        auto exact = static_cast<double>(row[id] - most - std::log(sum));
        EXPECT_EQ(one.token, id);
        EXPECT_NEAR(one.logprob, exact, 0x1p-23 * std::abs(exact) + 1e-10);
      };
      expect(found[0], token);
      for (size_t i = 0; i < count; ++i)
        expect(found[i + 1], order[i]);
    }
}

TEST(LogProbabilities, OfEqualTokensTheLowestComesFirst) {
  auto found = logprobs({1, 4, 4, 1, 4}, 3, 5);
  std::vector<int32_t> tokens;
  for (const effc_logprob_t &one : found)
    tokens.push_back(one.token);
  EXPECT_EQ(tokens, (std::vector<int32_t>{3, 1, 2, 4, 0}));
  // Each token of one row has one number, however it was asked for.
  EXPECT_EQ(found[0].logprob, found[4].logprob);
}

TEST(LogProbabilities, OfInfinitiesAreThoseOfTheLimit) {
  auto found = logprobs({2, INFINITY, -INFINITY, INFINITY}, 1, 1);
  EXPECT_FLOAT_EQ(found[0].logprob, std::log(0.5f));
  found = logprobs({2, INFINITY, -INFINITY, INFINITY}, 0, 1);
  EXPECT_EQ(found[0].logprob, -INFINITY);
  found = logprobs({2, -INFINITY}, 1, 2);
  EXPECT_EQ(found[0].logprob, -INFINITY);
  EXPECT_EQ(found[1].logprob, 0);
}

TEST(LogProbabilities, RefuseWhatCannotBe) {
  auto refusal = [](const Row &row, int32_t token, size_t count) {
    try {
      logprobs(row, token, count);
      return std::string();
    } catch (const Error &error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(refusal({1, 2}, 2, 1), "'token' is 2, but the vocabulary has 2");
  EXPECT_EQ(refusal({1, 2}, -1, 1), "'token' is -1, but the vocabulary has 2");
  EXPECT_EQ(refusal({1, 2}, 0, 0), "'count' is 0, but 1 to 1 + 2 are possible");
  EXPECT_EQ(refusal({1, 2}, 0, 4), "'count' is 4, but 1 to 1 + 2 are possible");
  EXPECT_EQ(refusal({1, NAN}, 0, 1), "the logit of token 1 is not a number");
}

// Those of the logits as they came, whatever penalties and filters made of them.
TEST(LogProbabilities, AreKeptOfEachDraw) {
  effc_logit_bias_t bias = {4, 100};
  effc_sampler_options_t options = effc_sampler_options_default();
  options.temperature = 0.5f;
  options.top_k = 2;
  options.logit_bias = &bias;
  options.logit_bias_count = 1;
  options.logprobs = 3;
  Sampler sampler(options, 9);
  EXPECT_TRUE(sampler.logprobs().empty());
  for (uint32_t draw = 0; draw < 5; ++draw) {
    Row row = randomRow(9, draw, 2);
    int32_t token = sampler.sample(row);
    EXPECT_EQ(token, 4);
    auto kept = sampler.logprobs(), expected = logprobs(row, token, 3);
    ASSERT_EQ(kept.size(), 3u);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(kept[i].token, expected[i].token);
      EXPECT_EQ(kept[i].logprob, expected[i].logprob);
    }
  }
  EXPECT_THROW(sampler.sample(Row(9, NAN)), Error);
  EXPECT_TRUE(sampler.logprobs().empty());
  options.logprobs = 11;
  EXPECT_THROW(Sampler(options, 9), Error);
  options.logprobs = 0;
  EXPECT_THROW(Sampler(options, 9).logprobs(), Error);
}
