#include "tools/effc-verify/TimeBudget.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace effc::verify;

// 0.5 s and 0.25 s a token: seven evaluations of 8 tokens take 17.5 s.
TEST(TimeBudget, FitsTokensIntoTime) {
  LinearTime time{.fixed = 0.5, .each = 0.25};
  EXPECT_EQ(tokensWithin(17.6, 7, time, 4, 48), 8u);
  EXPECT_EQ(tokensWithin(17.4, 7, time, 4, 48), 7u);
  EXPECT_EQ(tokensWithin(1, 7, time, 4, 48), 4u); // the fewest
  EXPECT_EQ(tokensWithin(1, 7, time, 0, 48), 0u); // not even the fixed part
  EXPECT_EQ(tokensWithin(1, 7, time, 4, 3), 3u);  // fewer are wanted
  EXPECT_EQ(tokensWithin(1000, 7, time, 4, 48), 48u);
  EXPECT_EQ(tokensWithin(0, 7, {}, 4, 48), 48u); // nothing was measured
  EXPECT_EQ(tokensWithin(INFINITY, 7, time, 4, 48), 48u);
}

TEST(TimeBudget, FitsALineThroughTwoMeasurements) {
  LinearTime time = LinearTime::through(2, 1.0, 8, 2.5);
  EXPECT_DOUBLE_EQ(time.each, 0.25);
  EXPECT_DOUBLE_EQ(time.fixed, 0.5);
  EXPECT_DOUBLE_EQ((time * 3).each, 0.75);
  EXPECT_DOUBLE_EQ((time * 3).fixed, 1.5);
  // The shorter one was disturbed: a token counts 2.4 / 8 / 4 at least.
  LinearTime noisy = LinearTime::through(2, 3.0, 8, 2.4);
  EXPECT_DOUBLE_EQ(noisy.each, 0.075);
  EXPECT_DOUBLE_EQ(noisy.fixed, 1.8);
  // Nothing is fixed where a token takes more than its share.
  LinearTime steep = LinearTime::through(2, 0.1, 8, 1.6);
  EXPECT_DOUBLE_EQ(steep.each, 0.25);
  EXPECT_EQ(steep.fixed, 0);
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
