#include "tools/effc-verify/ReferencePlan.h"

using namespace effc::verify;

ReferencePlan effc::verify::planReference(const ReferenceCost &cost) {
  constexpr size_t kBase = 2; // in double and in f32
  LinearTime whole = cost.time * (1 / cost.share);
  size_t fitting = tokensWithin(cost.seconds, kBase + cost.forms, whole,
                                kFewestTokens, cost.wanted);
  if (cost.share >= 1 || fitting == cost.wanted)
    return {.whole = fitting, .sample = 0};
  ReferencePlan plan;
  plan.sample = tokensWithin(cost.seconds / 2, kBase + cost.forms, cost.time,
                             kFewestTokens, cost.wanted);
  plan.whole =
      tokensWithin(cost.seconds / 2, kBase, whole, /*fewest=*/0, cost.wanted);
  if (plan.whole < kFewestTokens)
    plan.whole = 0;
  return plan;
}
