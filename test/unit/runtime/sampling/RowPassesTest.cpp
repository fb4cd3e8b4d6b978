// The passes of every width against plain loops: maxima and winners are the same
// to the bit, sums within what filters allow.

#include "runtime/src/sampling/RowPasses.h"
#include "runtime/src/sampling/LogitRow.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <optional>
#include <random>

using namespace effc::rt;

static constexpr size_t kBlocks = 37, kTokens = kBlocks * LogitRow::kBlock;

static std::vector<float> randomRow(uint32_t seed, float spread) {
  std::mt19937 random(seed);
  std::vector<float> row(kTokens);
  for (float &logit : row)
    logit = static_cast<float>(random() % 100003) / 100003 * spread;
  return row;
}

static std::vector<float> maximaOf(const std::vector<float> &row) {
  std::vector<float> maxima;
  for (size_t b = 0; b < kBlocks; ++b)
    maxima.push_back(
        *std::max_element(&row[b * LogitRow::kBlock],
                          &row[b * LogitRow::kBlock] + LogitRow::kBlock));
  return maxima;
}

TEST(RowPasses, FindTheLargestOfEachBlock) {
  for (const RowPasses &passes : allRowPasses()) {
    std::vector<float> row = randomRow(1, 7), found(kBlocks);
    row[40] = -INFINITY;
    row[41] = INFINITY;
    EXPECT_TRUE(passes.maxima(row.data(), kBlocks, found.data()));
    EXPECT_EQ(found, maximaOf(row)) << passes.name;
  }
}

// At every place of a block, among those that are taken together and behind them.
TEST(RowPasses, SeeWhatIsNoNumber) {
  for (const RowPasses &passes : allRowPasses())
    for (size_t block : {size_t(5), kBlocks - 1})
      for (size_t place = 0; place < LogitRow::kBlock; ++place) {
        std::vector<float> row = randomRow(2, 7), found(kBlocks);
        row[block * LogitRow::kBlock + place] = NAN;
        EXPECT_FALSE(passes.maxima(row.data(), kBlocks, found.data()))
            << passes.name << ", block " << block << ", place " << place;
      }
}

// Each block has its own, whichever are taken together.
TEST(RowPasses, FindAnOddNumberOfMaxima) {
  std::vector<float> row = randomRow(3, 7), all = maximaOf(row);
  for (const RowPasses &passes : allRowPasses())
    for (size_t blocks = 0; blocks <= kBlocks; ++blocks) {
      std::vector<float> found(kBlocks, -1);
      EXPECT_TRUE(passes.maxima(row.data(), blocks, found.data()));
      std::vector<float> expected(kBlocks, -1);
      std::copy_n(all.begin(), blocks, expected.begin());
      EXPECT_EQ(found, expected) << passes.name << ", " << blocks << " blocks";
    }
}

// Flat rows, where noise decides, and steep ones, where most tokens are passed
// over; of equal sums, with a scale that loses logits, the lowest.
TEST(RowPasses, RacesHaveTheWinnerOfAPlainLoop) {
  for (const RowPasses &passes : allRowPasses())
    for (float spread : {0.0f, 1.0f, 30.0f, 400.0f})
      for (uint32_t seed = 0; seed < 60; ++seed) {
        std::vector<float> row = randomRow(seed, spread);
        Race plain{Noise::of(seed, 3), 1.25f}, fast = plain;
        for (size_t id = 0; id < kTokens; ++id) {
          float sum =
              row[id] * 1.25f + plain.noise.at(static_cast<uint32_t>(id));
          if (sum > plain.best) {
            plain.best = sum;
            plain.token = static_cast<int32_t>(id);
          }
        }
        passes.race(row.data(), maximaOf(row).data(), kBlocks, fast);
        ASSERT_EQ(fast.token, plain.token) << passes.name << ", " << spread;
        ASSERT_EQ(fast.best, plain.best);
      }
}

// One token above all others, which enters first. Of 1183 others that lie `below` it, one
// wins in 1183 e^-below of all races, or a little less: in 28, 8 and 2 of 100.
TEST(RowPasses, TokensFarBelowTheBestMayWin) {
  constexpr int32_t kBest = 700;
  for (const RowPasses &passes : allRowPasses())
    for (float below : {8.0f, 9.5f, 11.0f}) {
      int others = 0;
      for (uint32_t seed = 0; seed < 500; ++seed) {
        std::vector<float> row = randomRow(seed, 0.01f);
        row[kBest] = below / 1.25f;
        Race plain{Noise::of(seed, 5), 1.25f}, fast = plain;
        for (size_t id = 0; id < kTokens; ++id)
          plain.enter(row[id], static_cast<int32_t>(id));
        fast.enter(row[kBest], kBest);
        passes.race(row.data(), maximaOf(row).data(), kBlocks, fast);
        ASSERT_EQ(fast.token, plain.token) << passes.name << ", " << below;
        ASSERT_EQ(fast.best, plain.best);
        others += fast.token != kBest;
      }
      EXPECT_GT(others, 0) << passes.name << ", " << below;
    }
}

// Of two tokens at plus infinity the first wins: their sums are equal.
TEST(RowPasses, RacesWithoutEndHaveTheWinnerOfAPlainLoop) {
  for (const RowPasses &passes : allRowPasses())
    for (uint32_t seed = 0; seed < 20; ++seed) {
      std::vector<float> row = randomRow(seed, 7);
      row[3] = -INFINITY;
      row[900] = row[50] = INFINITY;
      Race plain{Noise::of(seed, 7), 1.25f}, fast = plain;
      for (size_t id = 0; id < kTokens; ++id)
        plain.enter(row[id], static_cast<int32_t>(id));
      fast.enter(INFINITY, 50);
      passes.race(row.data(), maximaOf(row).data(), kBlocks, fast);
      EXPECT_EQ(fast.token, plain.token) << passes.name;
    }
}

TEST(RowPasses, SumWeights) {
  for (const RowPasses &passes : allRowPasses())
    for (float spread : {1.0f, 50.0f, 3000.0f}) {
      std::vector<float> row = randomRow(7, spread);
      row[3] = -INFINITY;
      std::vector<float> maxima = maximaOf(row);
      float best = *std::max_element(row.begin(), row.end());
      long double sum = 0;
      for (float logit : row)
        sum += std::exp((static_cast<long double>(logit) - best) * 0.7L);
      EXPECT_NEAR(
          passes.mass(row.data(), maxima.data(), kBlocks, {best, 0.7}, 36),
          static_cast<double>(sum), 1e-10 * static_cast<double>(sum))
          << passes.name << ", " << spread;
      // From so far below the best on tokens are summed coarsely; within 3 of 100.
      for (double coarsely : {36.0, 8.0, 2.0, 0.0}) {
        RoughMass rough = passes.roughMass(row.data(), maxima.data(), kBlocks,
                                           {best, 0.7}, coarsely, 36);
        EXPECT_NEAR(rough.sum, static_cast<double>(sum), rough.error)
            << passes.name << ", " << spread << ", " << coarsely;
        EXPECT_LE(rough.error, (coarsely == 36 ? 1.001e-5 : 0.032) * rough.sum);
      }
    }
}

// As many blocks as large vocabularies have, whose coarse sums are added up in several
// groups.
TEST(RowPasses, SumWeightsOfLargeVocabularies) {
  constexpr size_t kBlocksOfMany = 8192;
  std::vector<float> row, maxima;
  std::mt19937 random(29);
  for (size_t b = 0; b < kBlocksOfMany; ++b) {
    float largest = -INFINITY;
    for (size_t i = 0; i < LogitRow::kBlock; ++i) {
      row.push_back(static_cast<float>(random() % 100003) / 100003 * 30);
      largest = std::max(largest, row.back());
    }
    maxima.push_back(largest);
  }
  float best = *std::max_element(row.begin(), row.end());
  long double sum = 0;
  for (float logit : row)
    sum += std::exp(static_cast<long double>(logit) - best);
  for (const RowPasses &passes : allRowPasses())
    for (double coarsely : {36.0, 1.0, 0.0}) {
      RoughMass rough = passes.roughMass(
          row.data(), maxima.data(), kBlocksOfMany, {best, 1}, coarsely, 36);
      EXPECT_NEAR(rough.sum, static_cast<double>(sum), rough.error)
          << passes.name << ", " << coarsely;
      EXPECT_LE(rough.error, (coarsely == 36 ? 1.001e-5 : 0.032) * rough.sum);
    }
}

TEST(RowPasses, MomentsHaveTheSameBitsInAllWidths) {
  for (float spread : {1.0f, 50.0f, 3000.0f}) {
    std::vector<float> row = randomRow(8, spread);
    row[3] = -INFINITY;
    std::vector<float> maxima = maximaOf(row);
    float best = *std::max_element(row.begin(), row.end());
    long double mass = 0, distances = 0;
    for (float logit : row) {
      long double x = (static_cast<long double>(logit) - best) * 0.7L;
      mass += std::exp(x);
      if (std::isfinite(logit))
        distances += std::exp(x) * x;
    }
    std::optional<Moments> first;
    for (const RowPasses &passes : allRowPasses()) {
      RoughMoments found = passes.moments(row.data(), maxima.data(), kBlocks,
                                          {best, 0.7}, 36, 36);
      EXPECT_TRUE(found.areExact()) << passes.name << ", " << spread;
      Moments sums = found.near;
      EXPECT_NEAR(sums.mass, static_cast<double>(mass),
                  1e-10 * static_cast<double>(mass))
          << passes.name << ", " << spread;
      EXPECT_NEAR(sums.distances, static_cast<double>(distances),
                  1e-10 * static_cast<double>(mass))
          << passes.name << ", " << spread;
      if (!first)
        first = sums;
      EXPECT_EQ(sums.mass, first->mass) << passes.name << ", " << spread;
      EXPECT_EQ(sums.distances, first->distances)
          << passes.name << ", " << spread;
    }
  }
}

// As many blocks as large vocabularies have, whose rough sums are added up in several
// groups. A token at minus infinity adds nothing to what can be told apart.
TEST(RowPasses, MomentsOfFarBlocksAreRough) {
  constexpr size_t kBlocksOfMany = 8192;
  for (float spread : {8.0f, 30.0f, 300.0f}) {
    std::vector<float> row, maxima;
    std::mt19937 random(31);
    for (size_t b = 0; b < kBlocksOfMany; ++b) {
      float largest = -INFINITY;
      for (size_t i = 0; i < LogitRow::kBlock; ++i) {
        row.push_back(static_cast<float>(random() % 100003) / 100003 * spread);
        if (random() % 64 == 0)
          row.back() = -INFINITY;
        largest = std::max(largest, row.back());
      }
      // Blocks far apart, so that each kind of sum has some.
      float lower = static_cast<float>(random() % 8) * spread / 12;
      for (size_t i = row.size() - LogitRow::kBlock; i < row.size(); ++i)
        row[i] -= lower;
      maxima.push_back(largest - lower);
    }
    float best = *std::max_element(row.begin(), row.end());
    auto sumsWithin = [&](double nearest, double farthest) {
      long double mass = 0, distances = 0;
      for (size_t id = 0; id < row.size(); ++id) {
        double block = (double(maxima[id / LogitRow::kBlock]) - best) * 0.7;
        long double x = (static_cast<long double>(row[id]) - best) * 0.7L;
        if (block > -nearest || block <= -farthest || !std::isfinite(row[id]))
          continue;
        mass += std::exp(x);
        distances += std::exp(x) * x;
      }
      return Moments{static_cast<double>(mass), static_cast<double>(distances)};
    };
    for (const RowPasses &passes : allRowPasses())
      for (double nearly : {20.0, 5.0, 1.0}) {
        RoughMoments found = passes.moments(
            row.data(), maxima.data(), kBlocksOfMany, {best, 0.7}, nearly, 36);
        Moments near = sumsWithin(0, nearly), far = sumsWithin(nearly, 36);
        EXPECT_NEAR(found.near.mass, near.mass, 1e-10 * near.mass)
            << passes.name << ", " << spread << ", " << nearly;
        EXPECT_NEAR(found.near.distances, near.distances, 1e-10 * near.mass)
            << passes.name << ", " << spread << ", " << nearly;
        EXPECT_NEAR(found.far.mass, far.mass, RoughMoments::kError * far.mass)
            << passes.name << ", " << spread << ", " << nearly;
        EXPECT_NEAR(found.far.distances, far.distances,
                    RoughMoments::kError * -far.distances)
            << passes.name << ", " << spread << ", " << nearly;
        EXPECT_EQ(found.areExact(), far.mass == 0);
      }
  }
}

// As many candidates as fill no vector, and some more.
TEST(RowPasses, SpreadCandidatesOverBuckets) {
  std::vector<float> row = randomRow(9, 40);
  float best = *std::max_element(row.begin(), row.end());
  Distance distance = {best, 0.7};
  for (size_t count = 0; count < 60; ++count) {
    std::vector<Candidate> candidates;
    for (size_t i = 0; i < count; ++i)
      candidates.push_back({i == 7 ? best : row[i], static_cast<int32_t>(i)});
    Buckets plain(-6.5, 11);
    for (const Candidate &each : candidates) {
      double x = distance.of(each.logit);
      size_t place = plain.placeOf(plain.apart(x));
      // The nearest of 256 parts of 11.
      EXPECT_LE(place, 256u);
      if (place < 256)
        EXPECT_NEAR(double(place) / 256 * 11, std::abs(x + 6.5),
                    0.5 / 256 * 11);
      else
        EXPECT_GE(std::abs(x + 6.5), 255.49 / 256 * 11);
      plain.weights[place] += quickExp(x);
      ++plain.counts[place];
    }
    for (const RowPasses &passes : allRowPasses()) {
      Buckets found(-6.5, 11);
      passes.spread(candidates.data(), count, distance, found);
      for (size_t i = 0; i <= Buckets::kCount; ++i) {
        EXPECT_EQ(found.weights[i], plain.weights[i])
            << passes.name << ", " << count << ", bucket " << i;
        EXPECT_EQ(found.counts[i], plain.counts[i])
            << passes.name << ", " << count << ", bucket " << i;
      }
    }
  }
}

TEST(Weights, QuickOnesAreNearTheExactOnes) {
  for (double x = 0; x > -690; x -= 0.37)
    EXPECT_NEAR(quickExp(x), std::exp(x), 0x1p-36 * std::exp(x)) << x;
  EXPECT_LE(quickExp(-INFINITY), 1e-300);
}
