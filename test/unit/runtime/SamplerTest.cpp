// The sampler on logits whose probabilities are simple fractions: with logits
// log(p), the expected filters follow by hand.

#include "runtime/src/Sampler.h"

#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <numeric>

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

// Known answers of Random123, which comes with the paper (kat_vectors,
// "philox2x32 10").
TEST(Sampler, PhiloxGivesItsKnownAnswers) {
  using Words = std::array<uint32_t, 2>;
  EXPECT_EQ(philox({0, 0}, 0), (Words{0xff1dae59, 0x6cd10df2}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff}, 0xffffffff),
            (Words{0x2c3f628b, 0xab4fd7ad}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3}, 0x13198a2e),
            (Words{0xdd7ce038, 0xf62a4c12}));
}

// Key and counter by exact integers, noise by f32 of numpy; a
// change here changes what every seed draws.
TEST(Sampler, NoiseIsFixedForAllTime) {
  EXPECT_EQ(Noise::of(0, 0).key, 0xa706dd2fu);
  EXPECT_EQ(Noise::of(0, 0).counter, 0x4d197e6fu);
  EXPECT_EQ(Noise::of(123456789, 7).key, 0x3f4fc8b9u);
  EXPECT_EQ(Noise::of(123456789, 7).counter, 0x3fc07b8eu);
  EXPECT_EQ(Noise::from(0xff1dae59), 0x1.81874ap-2f);
  EXPECT_EQ(Noise::from(0x6cd10df2), 0x1.3f9908p-3f);
  EXPECT_EQ(Noise::from(0x2c3f628b), -0x1.201806p-1f);
  EXPECT_EQ((Noise{0x13198a2e, 0x85a308d3}.at(0x243f6a88)),
            Noise::from(0xdd7ce038));
}

/// -ln(-ln u) in double, of the u that a word stands for.
static double exactNoise(uint32_t word) {
  double v = ((word & 0x7fffffff) + 0.5) / 4294967296.0;
  return -std::log(word >> 31 ? -std::log1p(-v) : -std::log(v));
}

// Words from all over, and all those near both ends and in the middle.
TEST(Sampler, NoiseIsTheLogarithmOfALogarithm) {
  auto check = [](uint32_t word) {
    double exact = exactNoise(word),
           unit = std::ldexp(1, std::ilogb(exact) - 23);
    ASSERT_NEAR(Noise::from(word), exact, unit + 0x1p-22) << word;
    ASSERT_LT(Noise::from(word), Noise::kMost);
  };
  for (uint64_t word = 0; word < uint64_t(1) << 32; word += 4099)
    check(static_cast<uint32_t>(word));
  for (uint32_t i = 0; i < 5000; ++i)
    for (uint32_t from : {0u, 0x7fffffffu - 2500, 0x80000000u, 0u - 5000})
      check(from + i);
  EXPECT_NEAR(Noise::from(0x80000000), 33 * std::log(2.0), 2e-6);   // the most
  EXPECT_NEAR(Noise::from(0), -std::log(33 * std::log(2.0)), 1e-6); // the least
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

/// The sum of (count - expected)^2 / expected over tokens.
static double chiSquared(const std::map<int, int> &counts,
                         const std::vector<float> &logits, double temperature,
                         int draws) {
  std::vector<double> weights;
  for (float logit : logits)
    weights.push_back(std::exp(logit / temperature));
  double total = std::accumulate(weights.begin(), weights.end(), 0.0), sum = 0;
  for (size_t id = 0; id < logits.size(); ++id) {
    double expected = draws * weights[id] / total;
    auto found = counts.find(static_cast<int>(id));
    double count = found == counts.end() ? 0 : found->second;
    sum += (count - expected) * (count - expected) / expected;
  }
  return sum;
}

// Of 13 tokens chi^2 has 12 degrees of freedom: it is above 32.9 once in 1000
// seeds. The draws of one seed, and the first draws of many.
TEST(Sampler, FollowsTheSoftmax) {
  std::vector<float> logits;
  for (int id = 0; id < 13; ++id)
    logits.push_back(static_cast<float>((id * 5) % 13) / 4 - 1);
  constexpr int kDraws = 20000;
  for (float temperature : {0.7f, 1.9f}) {
    for (uint64_t seed : {0, 1, 99}) {
      effc_sampler_options_t given = options(temperature);
      given.seed = seed;
      EXPECT_LT(chiSquared(histogram(given, logits, kDraws), logits,
                           temperature, kDraws),
                32.9)
          << temperature << ", seed " << seed;
    }
    std::map<int, int> firsts;
    for (int seed = 0; seed < kDraws; ++seed) {
      effc_sampler_options_t given = options(temperature);
      given.seed = seed;
      ++firsts[*make(given, 13).sample(logits)];
    }
    EXPECT_LT(chiSquared(firsts, logits, temperature, kDraws), 32.9)
        << temperature << ", first draws";
  }
}

// A draw says nothing about the next: 9 pairs of neighbours, 8 degrees of
// freedom, above 26.1 once in 1000.
TEST(Sampler, DrawsAreIndependent) {
  std::vector<float> logits = {0, 0, 0};
  Sampler sampler = make(options(1), 3);
  std::map<int, int> pairs;
  constexpr int kPairs = 9000;
  for (int i = 0; i < kPairs; ++i) {
    int first = *sampler.sample(logits);
    ++pairs[3 * first + *sampler.sample(logits)];
  }
  EXPECT_LT(chiSquared(pairs, std::vector<float>(9, 0), 1, kPairs), 26.1);
}

// 10,000 tokens of which each comes once in 17,000 draws together have 6 of 10:
// that is for the noise near its upper end to say.
TEST(Sampler, RareTokensComeAsOftenAsTheyShould) {
  std::vector<float> logits(10001, -8.8f);
  logits[777] = 0;
  double rest = 10000 * std::exp(-8.8), share = 1 / (1 + rest);
  constexpr int kDraws = 2000;
  auto counts = histogram(options(1), logits, kDraws);
  // Four standard deviations.
  EXPECT_NEAR(counts[777], kDraws * share,
              4 * std::sqrt(kDraws * share * (1 - share)));
}

TEST(Sampler, TemperaturesOfAnySizeDraw) {
  // 1 / T leaves logits finite, and is not so small that it may be flushed.
  for (const std::vector<float> &logits :
       {std::vector<float>{0, -1, 2, 1}, {5, 30, 31, 12}, {-70, -8, -5, -6}})
    for (float temperature : {1e-45f, 1e-38f, 1e-30f})
      EXPECT_EQ(histogram(options(temperature), logits, 20),
                (std::map{std::pair{2, 20}}))
          << temperature;
  EXPECT_EQ(histogram(options(3e38f), {0, -1, 2, 1}, 200).size(), 4u);
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
  for (float best : {0.0f, 0.35f}) { // the best alone
    given.top_p = best;
    counts = histogram(given, logitsOf({0.1, 0.3, 0.2, 0.4}), 100);
    EXPECT_EQ(counts.size(), 1u);
    EXPECT_EQ(counts.count(3), 1u);
  }
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
  EXPECT_NE(messageOf([](auto &o) { o.top_p = -0.1f; }), "");
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
