// Which tokens filters keep. typical_p against its definition, in the terms of
// its paper; the sums that end top_p early against those that are exact.

#include "runtime/src/sampling/Filters.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace effc::rt;
using Ids = std::vector<int32_t>;

static std::vector<float> randomRow(size_t tokens, uint32_t seed,
                                    float spread) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, spread);
  std::vector<float> row(tokens);
  for (float &logit : row)
    logit = normal(random);
  return row;
}

static Ids keptOf(const Filters &filters, const std::vector<float> &logits) {
  std::vector<float> maxima, scratch;
  Candidates kept;
  kept.reserve(logits.size());
  std::optional<LogitRow> row = LogitRow::scan(logits, maxima);
  EXPECT_TRUE(bool(row));
  filters.apply(*row, kept, scratch);
  Ids ids;
  for (const Candidate &candidate : kept)
    ids.push_back(candidate.id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

/// Meister et al.: the tokens of `among` whose -ln p is nearest to the entropy, as
/// few as have the probability `mass` together.
static Ids typicalOf(const std::vector<float> &logits, double temperature,
                     double mass, Ids among) {
  double total = 0, entropy = 0;
  for (int32_t id : among)
    total += std::exp(logits[id] / temperature);
  auto surprise = [&](int32_t id) {
    return std::log(total) - logits[id] / temperature;
  };
  for (int32_t id : among)
    entropy += std::exp(-surprise(id)) * surprise(id);
  auto apart = [&](int32_t id) { return std::abs(surprise(id) - entropy); };
  std::sort(among.begin(), among.end(),
            [&](int32_t a, int32_t b) { return apart(a) < apart(b); });
  double sum = 0;
  for (size_t i = 0; i < among.size(); ++i)
    if ((sum += std::exp(-surprise(among[i]))) >= mass) {
      among.resize(i + 1);
      break;
    }
  std::sort(among.begin(), among.end());
  return among;
}

static Ids allOf(size_t tokens) {
  Ids ids(tokens);
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

TEST(Filters, TypicalKeepsWhatSurprisesAsExpected) {
  for (uint32_t seed = 0; seed < 40; ++seed)
    for (float spread : {0.5f, 3.0f})
      for (double mass : {0.2, 0.95}) {
        std::vector<float> logits = randomRow(701, seed, spread);
        Filters filters = {1.5f, 0, 1, 0, static_cast<float>(mass)};
        EXPECT_EQ(keptOf(filters, logits),
                  typicalOf(logits, 1.5, static_cast<float>(mass), allOf(701)))
            << "seed " << seed << ", spread " << spread << ", mass " << mass;
      }
}

// Few of many, nearly all of them, and one that has all the mass.
TEST(Filters, TypicalOfLongRows) {
  for (float spread : {0.01f, 3.0f, 30.0f})
    for (float mass : {0.3f, 0.9f, 0.999f}) {
      std::vector<float> logits = randomRow(20011, 5, spread);
      EXPECT_EQ(keptOf({1.5f, 0, 1, 0, mass}, logits),
                typicalOf(logits, 1.5, mass, allOf(20011)))
          << "spread " << spread << ", mass " << mass;
    }
}

/// A row of which most tokens lie far below the best, as those of large vocabularies.
static std::vector<float> peakedRow(size_t tokens, uint32_t seed) {
  std::vector<float> row = randomRow(tokens, seed, 0.3f);
  std::mt19937 random(seed + 1);
  std::uniform_real_distribution<float> near(-9, 0);
  for (float &logit : row)
    logit -= 10.5f;
  for (size_t i = 0; i < 60; ++i)
    row[random() % tokens] = i == 0 ? 0 : near(random);
  return row;
}

TEST(Filters, TypicalOfRowsWithFarTokens) {
  for (uint32_t seed = 0; seed < 6; ++seed)
    for (float mass : {0.1f, 0.5f, 0.9f, 0.999f}) {
      std::vector<float> logits = peakedRow(20011, seed);
      EXPECT_EQ(keptOf({0.9f, 0, 1, 0, mass}, logits),
                typicalOf(logits, 0.9f, mass, allOf(20011)))
          << "seed " << seed << ", mass " << mass;
    }
}

static double expectedOf(const std::vector<float> &logits) {
  double mass = 0, sum = 0;
  for (float logit : logits) {
    mass += std::exp(double(logit));
    sum += std::exp(double(logit)) * logit;
  }
  return sum / mass;
}

// Of two tokens on either side of the expected surprise the nearer one comes last, by
// however little it is nearer: first it is known from rough sums.
TEST(Filters, TypicalTellsTokensApartThatAreNearlyAsFar) {
  constexpr int32_t kInner = 100, kLikelier = 101, kOther = 102;
  constexpr double kApart = 1.4;
  int likelierWon = 0, otherWon = 0;
  for (uint32_t seed = 0; seed < 4; ++seed) {
    std::vector<float> logits = peakedRow(4001, seed);
    // They are part of the expectation: a few rounds until they stand where they should.
    for (int round = 0; round < 60; ++round) {
      double expected = expectedOf(logits);
      for (float &logit : logits) // nobody else is near the border
        if (std::abs(std::abs(logit - expected) - kApart) < 0.02)
          logit -= 0.05f;
      logits[kInner] = static_cast<float>(expected);
      logits[kLikelier] = static_cast<float>(expected + kApart);
      logits[kOther] = static_cast<float>(expected - kApart);
    }
    // Near 0 a logit can be moved by little.
    float other = logits[kOther];
    for (float &logit : logits)
      logit -= other;
    double expected = expectedOf(logits), mass = 0, inner = 0;
    for (float logit : logits) {
      mass += std::exp(double(logit));
      if (std::abs(logit - expected) < kApart - 0.01)
        inner += std::exp(double(logit));
    }
    auto share = static_cast<float>((inner + 0.5) / mass); // either has a half
    for (int step = -100; step <= 100; ++step) {
      logits[kOther] =
          static_cast<float>(2 * expected - logits[kLikelier] + step * 2.3e-8);
      Ids kept = keptOf({1, 0, 1, 0, share}, logits);
      ASSERT_EQ(kept, typicalOf(logits, 1, share, allOf(4001)))
          << "seed " << seed << ", step " << step;
      likelierWon += std::ranges::count(kept, kLikelier) != 0;
      otherWon += std::ranges::count(kept, kOther) != 0;
    }
  }
  EXPECT_GT(likelierWon, 100);
  EXPECT_GT(otherWon, 100);
  EXPECT_EQ(likelierWon + otherWon, 4 * 201);
}

// Of tokens with 1/2, 1/4, 1/8 and 1/8 the surprises are 1, 2, 3 and 3 bits, and
// 1.75 are expected: the second is nearest, the first next, the others as far.
TEST(Filters, TypicalByHand) {
  std::vector<float> logits;
  for (double p : {0.5, 0.25, 0.125, 0.125})
    logits.push_back(static_cast<float>(std::log(p)));
  EXPECT_EQ(keptOf({1, 0, 1, 0, 0.2f}, logits), (Ids{1}));
  EXPECT_EQ(keptOf({1, 0, 1, 0, 0.6f}, logits), (Ids{0, 1}));
  // One of two that are as near is not kept without the other.
  EXPECT_EQ(keptOf({1, 0, 1, 0, 0.8f}, logits), (Ids{0, 1, 2, 3}));
}

// Tokens that are as near are kept together, however many.
TEST(Filters, TypicalOfRowsOfFewValues) {
  std::vector<float> logits(20011, 1.5f);
  EXPECT_EQ(keptOf({1, 0, 1, 0, 0.3f}, logits), allOf(20011));
  // A fifth has e^2 times the weight, so 0.65 of the mass together. A token is expected
  // to lie 0.35 * 2 below these, which are nearer then.
  Ids likelier;
  for (int32_t id = 0; id < 20011; id += 5) {
    logits[static_cast<size_t>(id)] = 3.5f;
    likelier.push_back(id);
  }
  EXPECT_EQ(keptOf({1, 0, 1, 0, 0.3f}, logits), likelier);
  EXPECT_EQ(keptOf({1, 0, 1, 0, 0.6f}, logits), likelier);
  EXPECT_EQ(keptOf({1, 0, 1, 0, 0.7f}, logits), allOf(20011));
}

// Of the five likeliest, whose probabilities are taken anew.
TEST(Filters, TypicalComesAfterTheOthers) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    std::vector<float> logits = randomRow(333, seed, 1);
    Ids best = allOf(333);
    std::sort(best.begin(), best.end(),
              [&](int32_t a, int32_t b) { return logits[a] > logits[b]; });
    best.resize(5);
    EXPECT_EQ(keptOf({0.9f, 5, 1, 0, 0.5f}, logits),
              typicalOf(logits, 0.9f, 0.5, best));
  }
}

// Where a sum of all is a power of two and top_p a share that tokens reach to the
// bit, quick sums cannot tell: 64 equal tokens of which a quarter is asked for.
TEST(Filters, SumsThatReachTopPToTheBitAreExact) {
  std::vector<float> equal(64, 2.5f);
  EXPECT_EQ(keptOf({1, 0, 0.25f, 0, 0}, equal), allOf(16));
  EXPECT_EQ(keptOf({1, 0, std::nextafter(0.25f, 1.0f), 0, 0}, equal),
            allOf(17));
  EXPECT_EQ(keptOf({1, 0, std::nextafter(0.25f, 0.0f), 0, 0}, equal),
            allOf(16));
}

TEST(Filters, RowsWithoutABlockAreRowsToo) {
  EXPECT_EQ(keptOf({1, 2, 1, 0, 0}, {1, 3, 3, 2, -INFINITY}), (Ids{1, 2}));
  EXPECT_EQ(keptOf({1, 0, 0, 0, 0}, {1, 3, 3, 2}), (Ids{1}));
  EXPECT_EQ(keptOf({1, 0, 1, 0.5f, 0}, {INFINITY, 3, INFINITY}), (Ids{0, 2}));
}
