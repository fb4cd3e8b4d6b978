// The sampler on logits whose probabilities are simple fractions: with logits
// log(p), the expected filters follow by hand.

#include "runtime/src/Sampler.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>

using namespace effc::rt;

static effc_sampler_options_t options(float temperature) {
  effc_sampler_options_t options = effc_sampler_options_default();
  options.temperature = temperature;
  return options;
}

static Sampler make(const effc_sampler_options_t &given, uint32_t vocabulary) {
  Result<Sampler> sampler = Sampler::create(given, vocabulary);
  EXPECT_TRUE(bool(sampler));
  return std::move(*sampler);
}

static std::vector<float> logitsOf(std::vector<double> probabilities) {
  std::vector<float> logits;
  for (double p : probabilities)
    logits.push_back(static_cast<float>(std::log(p)));
  return logits;
}

/// How often each token is drawn in `rounds` draws.
static std::map<int, int> histogram(const effc_sampler_options_t &given,
                                    const std::vector<float> &logits,
                                    int rounds) {
  Sampler sampler = make(given, static_cast<uint32_t>(logits.size()));
  std::map<int, int> counts;
  for (int i = 0; i < rounds; ++i)
    ++counts[*sampler.sample(logits)];
  return counts;
}

TEST(Sampler, ExpIsWithinTwoUnits) {
  for (double x = 0; x > -700; x -= 0.37) {
    double exact = std::exp(x);
    EXPECT_NEAR(expOfNegative(x), exact, 4.5e-16 * exact) << x;
  }
  EXPECT_EQ(expOfNegative(0), 1.0);
  EXPECT_EQ(expOfNegative(-INFINITY), 0.0);
}

// The bits themselves, computed from the definition with exact integers; a
// change here changes what every seed draws.
TEST(Sampler, RandomNumbersAreFixedForAllTime) {
  EXPECT_EQ(uniformAt(0, 0), 0x1.4e0dba5e9a32fp-1);
  EXPECT_EQ(uniformAt(0, 1), 0x1.6705460be8829p-1);
  EXPECT_EQ(uniformAt(123456789, 7), 0x1.fa7e45c9fe03cp-3);
  EXPECT_NE(uniformAt(0, 1), uniformAt(1, 0));
  double sum = 0;
  for (int i = 0; i < 10000; ++i) {
    double u = uniformAt(42, i);
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.01);
}

TEST(Sampler, GreedyTakesTheFirstOfEquals) {
  Sampler sampler = make(options(0), 5);
  EXPECT_EQ(*sampler.sample(std::vector<float>{1, 3, 2, 3, 3}), 1);
  EXPECT_EQ(*sampler.sample(std::vector<float>{-INFINITY, -2, -1, -1, -9}), 2);
}

TEST(Sampler, DrawsInProportion) {
  // 1000 draws at p: the standard deviation is at most 16.
  auto counts = histogram(options(1), logitsOf({0.5, 0.3, 0.2}), 1000);
  EXPECT_NEAR(counts[0], 500, 60);
  EXPECT_NEAR(counts[1], 300, 60);
  EXPECT_NEAR(counts[2], 200, 60);
}

TEST(Sampler, TemperatureSharpens) {
  // At temperature 1/2 probabilities are squared: 0.64 and 0.04 give 16 to 1.
  auto counts = histogram(options(0.5f), logitsOf({0.8, 0.2}), 1700);
  EXPECT_NEAR(counts[0], 1600, 50);
}

TEST(Sampler, TopKKeepsTheBestAndTheLowestOfEquals) {
  effc_sampler_options_t given = options(1);
  given.top_k = 2;
  auto counts = histogram(given, logitsOf({0.2, 0.4, 0.2, 0.2}), 300);
  EXPECT_EQ(counts.size(), 2u);
  EXPECT_GT(counts[0], 0);
  EXPECT_GT(counts[1], counts[0]);
}

TEST(Sampler, TopPKeepsUpToTheOneThatReachesIt) {
  // 0.4 + 0.3 stays below 0.75; the third makes it 0.9 and is kept.
  effc_sampler_options_t given = options(1);
  given.top_p = 0.75f;
  auto counts = histogram(given, logitsOf({0.1, 0.3, 0.2, 0.4}), 500);
  EXPECT_EQ(counts.size(), 3u);
  EXPECT_EQ(counts.count(0), 0u);
  given.top_p = 0.35f; // the best alone
  EXPECT_EQ(histogram(given, logitsOf({0.1, 0.3, 0.2, 0.4}), 100).size(), 1u);
}

TEST(Sampler, TopPOverManyTokensSortsAsFarAsNeeded) {
  // 1000 equal tokens, half of the probability: ids 0 to 499 or one more, since
  // the sums round.
  effc_sampler_options_t given = options(1);
  given.top_p = 0.5f;
  auto counts = histogram(given, std::vector<float>(1000, 0.25f), 20000);
  EXPECT_LE(counts.rbegin()->first, 500);
  EXPECT_GE(counts.rbegin()->first, 498);
}

TEST(Sampler, TopPAfterTopKCountsWhatIsLeft) {
  // Of 0.4 and 0.3 the best has 4/7 = 0.571: it reaches 0.55 alone, not 0.6.
  effc_sampler_options_t given = options(1);
  given.top_k = 2;
  given.top_p = 0.55f;
  EXPECT_EQ(histogram(given, logitsOf({0.1, 0.3, 0.2, 0.4}), 200).size(), 1u);
  given.top_p = 0.6f;
  EXPECT_EQ(histogram(given, logitsOf({0.1, 0.3, 0.2, 0.4}), 200).size(), 2u);
}

TEST(Sampler, MinPIsRelativeToTheBest) {
  // 0.3 / 0.4 = 0.75 is kept at 0.7, 0.2 / 0.4 is not.
  effc_sampler_options_t given = options(1);
  given.min_p = 0.7f;
  auto counts = histogram(given, logitsOf({0.1, 0.3, 0.2, 0.4}), 300);
  EXPECT_EQ(counts.size(), 2u);
  EXPECT_GT(counts[1], 0);
}

TEST(Sampler, RepeatPenaltyDividesAndMultiplies) {
  effc_sampler_options_t given = options(0);
  given.repeat_penalty = 2;
  Sampler sampler = make(given, 3);
  const int32_t prompt[] = {0};
  EXPECT_FALSE(sampler.accept(prompt));
  // Seen 0 counts as 5 / 2, so 1 wins; then 1 is seen as 3 / 2.
  EXPECT_EQ(*sampler.sample(std::vector<float>{5, 3, -1}), 1);
  EXPECT_EQ(*sampler.sample(std::vector<float>{5, 3, -1}), 0);
  // Negative ones move away from zero: -1 * 2 < -1.5.
  EXPECT_EQ(*sampler.sample(std::vector<float>{-1, -9, -1.5}), 2);
}

TEST(Sampler, OneSeedDrawsTheSameTokens) {
  std::vector<float> logits = logitsOf({0.3, 0.3, 0.2, 0.2});
  effc_sampler_options_t given = options(1);
  auto draw = [&](uint64_t seed) {
    given.seed = seed;
    Sampler sampler = make(given, 4);
    std::vector<int32_t> tokens;
    for (int i = 0; i < 40; ++i)
      tokens.push_back(*sampler.sample(logits));
    return tokens;
  };
  EXPECT_EQ(draw(5), draw(5));
  EXPECT_NE(draw(5), draw(6));
}

TEST(Sampler, RefusesLogitsThatAreNoNumbers) {
  Sampler sampler = make(options(1), 3);
  Result<int32_t> token = sampler.sample(std::vector<float>{1, NAN, 2});
  ASSERT_FALSE(bool(token));
  EXPECT_EQ(token.error().message, "the logit of token 1 is not a number");
  token = sampler.sample(std::vector<float>(3, -INFINITY));
  ASSERT_FALSE(bool(token));
  EXPECT_EQ(token.error().message, "all logits are minus infinity");
  EXPECT_EQ(*sampler.sample(std::vector<float>{0, INFINITY, 2}), 1);
}

TEST(Sampler, RefusesOptionsOutOfRange) {
  auto messageOf = [](auto change) {
    effc_sampler_options_t given = options(1);
    change(given);
    Result<Sampler> sampler = Sampler::create(given, 4);
    return sampler ? std::string() : sampler.error().message;
  };
  EXPECT_NE(messageOf([](auto &o) { o.temperature = -1; }), "");
  EXPECT_NE(messageOf([](auto &o) { o.temperature = NAN; }), "");
  EXPECT_NE(messageOf([](auto &o) { o.top_p = 0; }), "");
  EXPECT_NE(messageOf([](auto &o) { o.top_p = 1.5f; }), "");
  EXPECT_NE(messageOf([](auto &o) { o.min_p = -0.1f; }), "");
  EXPECT_NE(messageOf([](auto &o) { o.repeat_penalty = 0; }), "");
  EXPECT_EQ(messageOf([](auto &) {}), "");
  EXPECT_FALSE(bool(Sampler::create(options(0), 0)));
}

TEST(Sampler, AcceptChecksTokens) {
  Sampler sampler = make(options(0), 4);
  const int32_t tokens[] = {1, 4};
  Check error = sampler.accept(tokens);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message, "token 1 is 4, but the vocabulary has 4");
}
