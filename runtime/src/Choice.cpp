#include "runtime/src/Device.h"

#include <cmath>

using namespace effc::rt;

int32_t Choice::id() const {
  bool isNone = std::isnan(logit) || logit == -INFINITY;
  return isNone ? -1 : static_cast<int32_t>(token);
}

Choice effc::rt::chooseFrom(std::span<const float> logits) {
  Choice best = {-INFINITY, 0};
  for (size_t id = 0; id < logits.size(); ++id)
    if (logits[id] > best.logit || std::isnan(logits[id])) {
      best = {logits[id], static_cast<float>(id)};
      if (std::isnan(best.logit))
        break;
    }
  return best;
}
