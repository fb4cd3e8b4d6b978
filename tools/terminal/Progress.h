// How far long work has come, on standard error.
#ifndef EFFC_TOOLS_TERMINAL_PROGRESS_H
#define EFFC_TOOLS_TERMINAL_PROGRESS_H

#include <chrono>
#include <cstdint>
#include <string>

namespace effc::cli {

/// How far long work has come: a bar on a terminal, a line now and then
/// elsewhere, nothing for work that takes less than a second.
class Progress {
public:
  /// `unit` names what is counted: "tokens"; "bytes" are shown with units.
  Progress(std::string label, std::string unit, uint64_t total);
  /// Ends the bar.
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  void update(uint64_t done);

private:
  using Clock = std::chrono::steady_clock;
  std::string label, unit;
  uint64_t total;
  Clock::time_point last;
  bool terminal;
  bool drawn = false;
};

} // namespace effc::cli

#endif // EFFC_TOOLS_TERMINAL_PROGRESS_H
