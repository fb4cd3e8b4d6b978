// What the reference is asked for in a time. An evaluation of the sample takes
// 0.1 s and 0.05 s a token, of the whole model ten times that.
#include "tools/effc-verify/ReferencePlan.h"

#include <gtest/gtest.h>

using namespace effc::verify;

static ReferencePlan planFor(double seconds, double share = 0.1) {
  return planReference({.seconds = seconds,
                        .wanted = 48,
                        .plain = 2,
                        .forms = 5,
                        .time = {.fixed = 0.1, .each = 0.05},
                        .share = share});
}

// Seven evaluations of the whole model for 48 tokens take 7 * 25 s.
TEST(ReferencePlan, TakesEverythingWhereThereIsTime) {
  ReferencePlan plan = planFor(176);
  EXPECT_EQ(plan.whole, 48u);
  EXPECT_EQ(plan.sample, 0u);
}

// Half of 30.2 s for each: two evaluations of the whole model take 15 s for 13
// tokens and 16 s for 14, seven of the sample 15.05 s for 41 and 15.4 s for 42.
TEST(ReferencePlan, TriesFormsOnTheSample) {
  ReferencePlan plan = planFor(30.2);
  EXPECT_EQ(plan.whole, 13u);
  EXPECT_EQ(plan.sample, 41u);
}

// Half of 10 s has no room for 4 tokens through the whole model, twice 3 s.
TEST(ReferencePlan, LeavesTheWholeModelOutWhereItHasNoRoom) {
  ReferencePlan plan = planFor(10);
  EXPECT_EQ(plan.whole, 0u);
  EXPECT_EQ(plan.sample, 12u);
}

TEST(ReferencePlan, TriesAFewTokensHoweverShortTheTimeIs) {
  ReferencePlan plan = planFor(0);
  EXPECT_EQ(plan.whole, 0u);
  EXPECT_EQ(plan.sample, 4u);
}

// Without a sample the whole model is the one that was timed.
TEST(ReferencePlan, ShortensTheSequenceWithoutASample) {
  ReferencePlan plan = planFor(4.3, /*share=*/1);
  EXPECT_EQ(plan.whole, 10u);
  EXPECT_EQ(plan.sample, 0u);
  EXPECT_EQ(planFor(0, /*share=*/1).whole, 4u);
}
