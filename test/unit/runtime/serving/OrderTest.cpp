// Who goes first, how prompts share a step, and what bounds waiting.

#include "runtime/src/serving/Order.h"

#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace effc::rt;
using Lengths = std::vector<uint64_t>;

TEST(Order, TheLargerClassThenTheOlder) {
  Place low = {1, 0, 10}, alsoLow = {2, 0, 10}, high = {3, 2, 10};
  EXPECT_TRUE(low.goesBefore(alsoLow, 10, 5));
  EXPECT_FALSE(alsoLow.goesBefore(low, 10, 5));
  EXPECT_TRUE(high.goesBefore(low, 10, 5));
  // Both have aged.
  EXPECT_TRUE(high.goesBefore(low, 99, 5));
}

// A class for each 5 steps: what comes 10 steps later with two classes more never
// passes, what comes a step before that does at first.
TEST(Order, AgeMakesUpForPriority) {
  Place old = {1, 1, 100}, atLast = {2, 3, 110}, before = {3, 3, 109};
  bool passed = false;
  for (uint64_t step = 110; step < 200; ++step) {
    EXPECT_TRUE(old.goesBefore(atLast, step, 5)) << step;
    passed |= before.goesBefore(old, step, 5);
  }
  EXPECT_TRUE(passed);
}

TEST(Order, TheFirstTakesThreeQuartersAndTheShortestOne) {
  // 40 tokens on a grid of 4: the third is short enough to end.
  std::vector<Prompt> prompts = {{0, 100}, {8, 50}, {0, 7}};
  EXPECT_EQ(shareRoom(prompts, 40, 4), (Lengths{32, 0, 7}));
  // It is cut to the grid otherwise, and what is left over goes down the order.
  prompts[2] = {0, 30};
  EXPECT_EQ(shareRoom(prompts, 40, 4), (Lengths{32, 0, 8}));
  prompts[0] = {0, 10};
  EXPECT_EQ(shareRoom(prompts, 40, 4), (Lengths{10, 28, 0}));
}

TEST(Order, AGridAboveTheRoomIsFedAllTheSame) {
  EXPECT_EQ(shareRoom(std::vector<Prompt>{{0, 100}, {0, 3}}, 16, 64),
            (Lengths{64, 3}));
  EXPECT_EQ(shareRoom(std::vector<Prompt>{{10, 100}}, 8, 64), (Lengths{54}));
}

// Prompts stop where their states are copied; the room goes to others.
TEST(Order, PromptsStopWhereTheyAreAsked) {
  EXPECT_EQ(
      shareRoom(std::vector<Prompt>{{0, 100, 12}, {0, 50}, {0, 60}}, 40, 4),
      (Lengths{12, 8, 20}));
  EXPECT_EQ(shareRoom(std::vector<Prompt>{{0, 100, 40}, {0, 50}}, 20, 4),
            (Lengths{16, 4}));
}

// Whatever the prompts: cuts lie on the grid, the first gets its share, and the
// room is exceeded by less than one chunk.
TEST(Order, SharesHoldTheirRules) {
  std::mt19937 random(5);
  for (int round = 0; round < 3000; ++round) {
    uint64_t grid = uint64_t(1) << random() % 6, room = 1 + random() % 100;
    std::vector<Prompt> prompts(1 + random() % 6);
    for (Prompt &prompt : prompts)
      prompt = {random() % 9 * grid, 1 + random() % 200};
    Lengths lengths = shareRoom(prompts, room, grid);
    ASSERT_EQ(lengths.size(), prompts.size());
    for (size_t i = 0; i < prompts.size(); ++i) {
      ASSERT_LE(lengths[i], prompts[i].left);
      if (lengths[i] < prompts[i].left)
        ASSERT_EQ((prompts[i].position + lengths[i]) % grid, 0u);
    }
    uint64_t least = room - room / 4;
    least = std::max(grid, least - least % grid);
    ASSERT_GE(lengths[0], std::min(prompts[0].left, least));
    ASSERT_LT(std::accumulate(lengths.begin(), lengths.end(), uint64_t(0)),
              room + grid);
  }
}

// 3 may wait and 2 run, both at once, prompts of 40 tokens of which 12 are fed a
// step, 10 new ones, classes of 5 steps: 35 + 5 * 4 + 4 * 10 / 2 + 1 + 5.
TEST(Order, TheBoundByHand) {
  WaitBounds bounds = {3, 2, 2, 1, 40, 10, 16, 4, 5};
  EXPECT_EQ(bounds.mostSteps(), 81u);
  bounds.together = 1; // the largest run one after another
  EXPECT_EQ(bounds.mostSteps(), 101u);
  // Two choices each, which need both places: 35 + 20 + 4 * 2 * 10 / 1 + 1 + 5.
  bounds.together = bounds.choices = 2;
  EXPECT_EQ(bounds.mostSteps(), 141u);
  // Each prompt may stop three times: 5 * 3 more.
  bounds.stops = 3;
  EXPECT_EQ(bounds.mostSteps(), 156u);
  bounds.promptTokens = 0;
  EXPECT_EQ(bounds.mostSteps(), UINT64_MAX);
  // More than can be counted.
  bounds.promptTokens = 40;
  bounds.newTokens = UINT64_MAX / 3;
  EXPECT_EQ(bounds.mostSteps(), UINT64_MAX);
}
