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
