//===- Race.h - Which token of a draw is the largest ----------------------===//
#ifndef EFFC_RUNTIME_SRC_SAMPLING_RACE_H
#define EFFC_RUNTIME_SRC_SAMPLING_RACE_H

#include "runtime/src/sampling/Noise.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

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

  /// A logit below which a token loses, if it has at most so much noise; minus infinity
  /// where none is known.
  float logitAt(float amount) const {
    if (!std::isfinite(best))
      return -INFINITY;
    double sum = double(best) - amount, rounding = roundingNear(amount);
    double logit = (sum - rounding) / scale;
    constexpr double kMostLogit = std::numeric_limits<float>::max();
    return std::nextafter(
        static_cast<float>(std::clamp(logit, -kMostLogit, kMostLogit)),
        -INFINITY);
  }
  /// A token with a logit of at most `logit` needs at least so much noise to win; NaN
  /// where that is not known.
  double leastNoiseUpTo(float logit) const {
    double scaled = double(logit) * scale;
    return double(best) - scaled - roundingNear(scaled);
  }

  void enter(float logit, int32_t id) {
    if (isLost(logit))
      return;
    float sum = logit * scale + noise.at(static_cast<uint32_t>(id));
    if (sum > best || (sum == best && id < token)) {
      best = sum;
      token = id;
    }
  }

private:
  /// More than what sums of the size of the best, and of `other`, are rounded by.
  double roundingNear(double other) const {
    return (std::abs(double(best)) + std::abs(other)) * 0x1p-20;
  }
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_SAMPLING_RACE_H
