// Progress of writing weights: a bar on a terminal, plain lines elsewhere.
#ifndef EFFC_TOOLS_EFFCCOMPILE_WEIGHTPROGRESS_H
#define EFFC_TOOLS_EFFCCOMPILE_WEIGHTPROGRESS_H

#include <chrono>
#include <cstdint>

namespace effc {

/// Writes to standard error, and nothing at all for work that is done within half
/// a second. `NO_COLOR` does away with the bar's colour.
class WeightProgress {
public:
  void update(uint64_t done, uint64_t total);

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begun = Clock::now(), shown = begun;
  unsigned tenths = 0;
  bool open = false;
};

} // namespace effc

#endif // EFFC_TOOLS_EFFCCOMPILE_WEIGHTPROGRESS_H
