//===- Counters.h - What an engine has done -------------------------------===//
#ifndef EFFC_RUNTIME_SRC_COUNTERS_H
#define EFFC_RUNTIME_SRC_COUNTERS_H

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace effc::rt {

/// Adds the wall time between its making and its end to a sum.
class Stopwatch {
public:
  explicit Stopwatch(double &seconds) : seconds(seconds) {}
  ~Stopwatch() {
    seconds += std::chrono::duration<double>(Clock::now() - begin).count();
  }
  Stopwatch(const Stopwatch &) = delete;
  Stopwatch &operator=(const Stopwatch &) = delete;

private:
  using Clock = std::chrono::steady_clock;
  double &seconds;
  Clock::time_point begin = Clock::now();
};

/// Of one entry (effc_entry_counters_t).
struct EntryWork {
  uint64_t calls = 0, tokens = 0, outputs = 0;
  double seconds = 0;
};

/// A number that goes up and down, and the most that it was.
template <typename Number> struct Level {
  Number now = 0, most = 0;
  void add(Number more) { most = std::max(most, now += more); }
  void take(Number less) { now -= less; }
};

struct Counters {
  std::vector<EntryWork> entries; // of the plan, in its order
  double choiceSeconds = 0;
  uint64_t copies = 0, copiedBytes = 0;
  Level<uint32_t> sessions;
  Level<uint64_t> stateBytes;

  void copied(uint64_t bytes) {
    ++copies;
    copiedBytes += bytes;
  }
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_COUNTERS_H
