// Every way of feeding the toy model gives what its plain restatement says.
#include "tools/effc-verify/Feeding.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <gtest/gtest.h>
#include <numeric>

using namespace effc;
using namespace effc::test;
using namespace effc::verify;

TEST(Feeding, EveryWayGivesAllLogits) {
  TemporaryFile file(makeToyArtifact());
  Model model(file.path());
  Feeding feeding(model, Device::host(2));
  Tokens tokens = pickTokens(kToyVocabulary, 41, 3);
  Logits expected = ToyReference().feed(tokens);
  EXPECT_EQ(feeding.inOnePrefill(tokens), expected);
  EXPECT_EQ(feeding.inSteps(tokens), expected);
  EXPECT_EQ(feeding.inPieces(tokens, {1, 5, 1, 1, 20, 13}), expected);
  EXPECT_EQ(feeding.throughASavedState(tokens), expected);
  Tokens other = pickTokens(kToyVocabulary, 11, 4);
  EXPECT_EQ(feeding.inBatch({other, tokens}),
            (std::vector<Logits>{ToyReference().feed(other), expected}));
  Logits last(expected.end() - kToyVocabulary, expected.end());
  EXPECT_EQ(feeding.lastRowAlone(tokens), last);
  EXPECT_EQ(feeding.withoutLogitsThenAStep(tokens), last);
  // Sequences shorter than the steps decoded side by side.
  EXPECT_EQ(feeding.inBatch({{1, 2}, tokens})[1], expected);
}

TEST(Feeding, PicksTheSameForTheSameSeed) {
  EXPECT_EQ(pickTokens(100, 9, 1), pickTokens(100, 9, 1));
  EXPECT_NE(pickTokens(100, 9, 1), pickTokens(100, 9, 2));
  for (int32_t token : pickTokens(7, 200, 5)) {
    EXPECT_GE(token, 0);
    EXPECT_LT(token, 7);
  }
}

TEST(Feeding, SplitsAddUp) {
  for (size_t count : {1, 2, 17, 48, 200})
    for (uint64_t seed : {0, 1, 2}) {
      std::vector<size_t> lengths = pickSplit(count, seed);
      EXPECT_EQ(std::accumulate(lengths.begin(), lengths.end(), size_t(0)),
                count);
      for (size_t length : lengths)
        EXPECT_GE(length, 1u);
    }
  EXPECT_NE(pickSplit(48, 0), pickSplit(48, 1));
}
