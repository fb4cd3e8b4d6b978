// Where a prompt's states are kept: by marks, where it leaves others, every so many
// tokens, and at its end.

#include "runtime/src/serving/Checkpoints.h"

#include <gtest/gtest.h>
#include <random>

using namespace effc::rt;
using Places = std::vector<uint64_t>;

static Places places(uint64_t tokens, uint64_t from = 0, uint64_t matched = 0,
                     Places marks = {}, CheckpointRules rules = {1, 2048}) {
  return checkpointsOf(rules, tokens, from, matched, marks);
}

TEST(Checkpoints, LieBehindTheLastTokenButOne) {
  EXPECT_EQ(places(100), (Places{99}));
  EXPECT_EQ(places(17), (Places{16}));
  EXPECT_EQ(places(16), Places()); // a call more is worth 16 tokens
  EXPECT_EQ(places(1), Places());
}

TEST(Checkpoints, LieWhereTheCallerSays) {
  EXPECT_EQ(places(200, 0, 0, {3, 90}), (Places{3, 90, 199}));
  // The end is not worth a call that soon behind a mark.
  EXPECT_EQ(places(100, 0, 0, {90}), (Places{90}));
  // All of the prompt, and what has been passed already.
  EXPECT_EQ(places(100, 50, 50, {20, 50, 100}), (Places{100}));
  EXPECT_EQ(places(95, 0, 0, {37, 38}, {16, 0}), (Places{32}));
}

TEST(Checkpoints, LieWhereItLeavesOthers) {
  EXPECT_EQ(places(400, 0, 300), (Places{300, 399}));
  EXPECT_EQ(places(400, 290, 300), (Places{399})); // too near
  EXPECT_EQ(places(400, 0, 400), (Places{399}));
}

TEST(Checkpoints, LieEverySoManyTokens) {
  EXPECT_EQ(places(450, 0, 0, {}, {1, 100}), (Places{100, 200, 300, 400}));
  EXPECT_EQ(places(480, 150, 150, {}, {1, 100}), (Places{200, 300, 400, 479}));
  EXPECT_EQ(places(450, 0, 0, {}, {16, 100}), (Places{112, 224, 336, 448}));
  EXPECT_EQ(places(450, 0, 0, {}, {1, 0}), (Places{449}));
}

// Whatever is asked: ascending, on the grid or the end, and not more than is said.
TEST(Checkpoints, HoldTheirRules) {
  std::mt19937 random(3);
  for (int round = 0; round < 5000; ++round) {
    CheckpointRules rules = {1 + random() % 20, random() % 300};
    uint64_t tokens = 1 + random() % 2000, from = random() % tokens,
             matched = from + random() % (tokens - from + 1);
    from -= from % rules.grid;
    Places marks(random() % 5);
    for (uint64_t &mark : marks)
      mark = 1 + random() % tokens;
    Places found = checkpointsOf(rules, tokens, from, matched, marks);
    ASSERT_LE(found.size(), mostCheckpoints(rules, tokens, marks.size()));
    uint64_t before = from;
    for (uint64_t place : found) {
      ASSERT_GT(place, before);
      ASSERT_EQ(place % rules.grid, 0u);
      ASSERT_LE(place, tokens);
      before = place;
    }
  }
}
