#include "runtime/src/Device.h"

#include <cmath>

using namespace effc::rt;

std::optional<int32_t> Choice::id(uint64_t vocabulary) const {
  if (std::isnan(logit) || logit == -INFINITY)
    return -1;
  if (!(token >= 0 && token < static_cast<float>(vocabulary)))
    return std::nullopt;
  return static_cast<int32_t>(token);
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
