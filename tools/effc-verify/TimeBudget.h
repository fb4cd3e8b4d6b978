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

/// The longest sequence, up to `wanted` tokens and at least `fewest`, of which
/// `evaluations` take at most `seconds` in all, where `tokens` took `measured`
/// seconds once. What an evaluation takes whatever its length is (weights are
/// read and widened) counts as if it grew with the tokens, so the estimate errs
/// on the side of fewer.
size_t tokensWithin(double seconds, size_t evaluations, size_t tokens,
                    double measured, size_t fewest, size_t wanted);

} // namespace effc::verify

#endif // EFFC_TOOLS_EFFC_VERIFY_TIMEBUDGET_H
