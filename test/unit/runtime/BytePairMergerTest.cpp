#include "runtime/src/tokenizer/models/BytePairMerger.h"

#include <chrono>
#include <gtest/gtest.h>
#include <random>

using namespace effc::rt;
using Merge = BytePairMerger::Merge;

static std::vector<int32_t> merged(const std::vector<Merge> &merges,
                                   std::vector<int32_t> tokens) {
  BytePairMerger merger(merges);
  BytePairMerger::Workspace workspace;
  merger.merge(tokens, workspace);
  return tokens;
}

/// The definition: the best pair anywhere, the leftmost of several, again and
/// again.
static std::vector<int32_t> mergedSlowly(const std::vector<Merge> &merges,
                                         std::vector<int32_t> tokens) {
  while (true) {
    size_t bestAt = 0, bestRank = merges.size();
    for (size_t i = 0; i + 1 < tokens.size(); ++i)
      for (size_t rank = 0; rank < bestRank; ++rank)
        if (merges[rank].left == tokens[i] &&
            merges[rank].right == tokens[i + 1]) {
          bestRank = rank;
          bestAt = i;
        }
    if (bestRank == merges.size())
      return tokens;
    tokens[bestAt] = merges[bestRank].merged;
    tokens.erase(tokens.begin() + static_cast<long>(bestAt) + 1);
  }
}

TEST(BytePairMerger, MergesByRankNotByPlace) {
  // (2,3) has the better rank, so 1 stays alone.
  EXPECT_EQ(merged({{2, 3, 10}, {1, 2, 11}}, {1, 2, 3}),
            (std::vector<int32_t>{1, 10}));
  EXPECT_EQ(merged({{1, 2, 11}, {2, 3, 10}}, {1, 2, 3}),
            (std::vector<int32_t>{11, 3}));
}

TEST(BytePairMerger, TakesTheLeftmostOfEquals) {
  EXPECT_EQ(merged({{1, 1, 9}}, {1, 1, 1}), (std::vector<int32_t>{9, 1}));
  EXPECT_EQ(merged({{1, 1, 9}}, {1, 1, 1, 1}), (std::vector<int32_t>{9, 9}));
}

TEST(BytePairMerger, LeavesWhatHasNoMerge) {
  EXPECT_EQ(merged({}, {5, 6}), (std::vector<int32_t>{5, 6}));
  EXPECT_EQ(merged({{1, 2, 3}}, {}), std::vector<int32_t>{});
  EXPECT_EQ(merged({{1, 2, 3}}, {1}), std::vector<int32_t>{1});
}

TEST(BytePairMerger, OfTwoMergesOfAPairTheBetterCounts) {
  EXPECT_EQ(merged({{1, 2, 8}, {1, 2, 9}}, {1, 2}), std::vector<int32_t>{8});
}

TEST(BytePairMerger, AgreesWithTheDefinition) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<Merge> merges;
    int32_t next = 4;
    for (int i = 0; i < 12; ++i) {
      int32_t left = static_cast<int32_t>(random() % next);
      int32_t right = static_cast<int32_t>(random() % next);
      merges.push_back({left, right, next++});
    }
    std::vector<int32_t> tokens(1 + random() % 40);
    for (int32_t &token : tokens)
      token = static_cast<int32_t>(random() % 4);
    EXPECT_EQ(merged(merges, tokens), mergedSlowly(merges, tokens));
  }
}

// A megabyte in one piece: a quadratic loop would take hours.
TEST(BytePairMerger, TakesAMegabyteInOnePiece) {
  std::vector<Merge> merges;
  for (int32_t token = 0; token < 10; ++token)
    merges.push_back({token, token, token + 1});
  std::vector<int32_t> tokens(1 << 20, 0);
  auto start = std::chrono::steady_clock::now();
  tokens = merged(merges, std::move(tokens));
  EXPECT_EQ(tokens, std::vector<int32_t>(1 << 10, 10));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}
