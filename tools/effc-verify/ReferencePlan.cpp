#include "tools/effc-verify/ReferencePlan.h"

using namespace effc::verify;

ReferencePlan effc::verify::planReference(const ReferenceCost &cost) {
  LinearTime whole = cost.time * (1 / cost.share);
  size_t fitting = tokensWithin(cost.seconds, cost.plain + cost.forms, whole,
                                kFewestTokens, cost.wanted);
  if (cost.share >= 1 || fitting == cost.wanted)
    return {.whole = fitting, .sample = 0};
  ReferencePlan plan;
  plan.sample = tokensWithin(cost.seconds / 2, cost.plain + cost.forms,
                             cost.time, kFewestTokens, cost.wanted);
  plan.whole = tokensWithin(cost.seconds / 2, cost.plain, whole, /*fewest=*/0,
                            cost.wanted);
  if (plan.whole < kFewestTokens)
    plan.whole = 0;
  return plan;
}
