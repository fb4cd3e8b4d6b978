// How much of a verification fits in the time that a user grants.
#ifndef EFFC_TOOLS_EFFC_VERIFY_TIMEBUDGET_H
#define EFFC_TOOLS_EFFC_VERIFY_TIMEBUDGET_H

#include <chrono>
#include <cstddef>

namespace effc::verify {

/// Counts from when it is made.
class TimeBudget {
public:
  /// Infinite: everything fits.
  explicit TimeBudget(double seconds) : seconds(seconds) {}

  double total() const { return seconds; }
  double passed() const;
  /// Not negative.
  double left() const;
  /// Whether what takes about `estimate` seconds ends in time.
  bool hasRoomFor(double estimate) const { return estimate <= left(); }

private:
  using Clock = std::chrono::steady_clock;
  double seconds;
  Clock::time_point start = Clock::now();
};

/// Seconds that an evaluation takes, by the length of its sequence.
struct LinearTime {
  double fixed = 0; // whatever the length: weights are read and widened
  double each = 0;  // more for a token

  /// Through two measurements, `fewer` < `more` tokens. A token counts at least
  /// a quarter of its share of the longer one, since both are noisy.
  static LinearTime through(size_t fewer, double fewerSeconds, size_t more,
                            double moreSeconds);
  /// Of a model that takes `factor` times as long.
  LinearTime operator*(double factor) const {
    return {fixed * factor, each * factor};
  }
};

/// The longest sequence, up to `wanted` tokens and at least `fewest`, of which
/// `evaluations` take at most `seconds` in all.
size_t tokensWithin(double seconds, size_t evaluations, LinearTime time,
                    size_t fewest, size_t wanted);

} // namespace effc::verify

#endif // EFFC_TOOLS_EFFC_VERIFY_TIMEBUDGET_H
