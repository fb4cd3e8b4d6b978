#include "tools/effc-verify/TimeBudget.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace effc::verify;

// Two tokens in 0.5 s: seven evaluations of 10 tokens take 17.5 s.
TEST(TimeBudget, FitsTokensIntoTime) {
  EXPECT_EQ(tokensWithin(17.6, 7, 2, 0.5, 4, 48), 10u);
  EXPECT_EQ(tokensWithin(17.4, 7, 2, 0.5, 4, 48), 9u);
  EXPECT_EQ(tokensWithin(1, 7, 2, 0.5, 4, 48), 4u);     // the fewest
  EXPECT_EQ(tokensWithin(1, 7, 2, 0.5, 4, 3), 3u);      // fewer are wanted
  EXPECT_EQ(tokensWithin(1000, 7, 2, 0.5, 4, 48), 48u); // all
  EXPECT_EQ(tokensWithin(0, 7, 2, 0, 4, 48), 48u);      // nothing was measured
  EXPECT_EQ(tokensWithin(INFINITY, 7, 2, 0.5, 4, 48), 48u);
}

TEST(TimeBudget, RunsOut) {
  TimeBudget none(0), all(INFINITY), some(1000);
  EXPECT_FALSE(none.hasRoomFor(0.001));
  EXPECT_EQ(none.left(), 0);
  EXPECT_TRUE(all.hasRoomFor(1e9));
  EXPECT_TRUE(some.hasRoomFor(500));
  EXPECT_FALSE(some.hasRoomFor(1001));
  EXPECT_GE(some.passed(), 0);
}
