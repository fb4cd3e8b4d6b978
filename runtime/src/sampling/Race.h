//===- Race.h - Which token of a draw is the largest ----------------------===//
#ifndef EFFC_RUNTIME_SRC_SAMPLING_RACE_H
#define EFFC_RUNTIME_SRC_SAMPLING_RACE_H

#include "runtime/src/sampling/Noise.h"

#include <cmath>
#include <cstdint>

namespace effc::rt {

/// Finds the largest sum of a scaled logit and noise, the lowest token of
/// several; -1 while all are minus infinity. Tokens enter in any order.
struct Race {
  Noise noise;
  float scale;
  float best = -INFINITY;
  int32_t token = -1;

  /// Whether a token of this logit loses, whatever its noise.
  bool isLost(float logit) const { return logit * scale + Noise::kMost < best; }

  void enter(float logit, int32_t id) {
    if (isLost(logit))
      return;
    float sum = logit * scale + noise.at(static_cast<uint32_t>(id));
    if (sum > best || (sum == best && id < token)) {
      best = sum;
      token = id;
    }
  }
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_SAMPLING_RACE_H
