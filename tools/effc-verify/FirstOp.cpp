#include "tools/effc-verify/FirstOp.h"

#include "tools/effc-verify/Expected.h"

#include <algorithm>

using namespace effc;
using namespace effc::verify;

static const ProbedValue *findFirst(const OpProbe &probe,
                                    const Differing &differing) {
  std::vector<bool> differs = differing(probe);
  auto first = std::find(differs.begin(), differs.end(), true);
  return first == differs.end() ? nullptr
                                : &probe.values[first - differs.begin()];
}

std::optional<FirstOp>
effc::verify::findFirstOp(const StoredModel &model,
                          const std::vector<int32_t> &tokens,
                          const Differing &differing) {
  OpProbe coarse = take(probeStretches(model, tokens));
  const ProbedValue *where = findFirst(coarse, differing);
  // The last stretch hands nothing on.
  size_t stretch = where ? where->stretch : coarse.values.back().stretch + 1;
  OpProbe fine = take(probeStretch(model, stretch, tokens));
  const ProbedValue *first = findFirst(fine, differing);
  if (first)
    return FirstOp{first->layer, first->op};
  if (where)
    return FirstOp{where->layer, ""};
  return std::nullopt;
}
