//===- Terminal.h - Standard output and standard error --------------------===//
//
// Results go to standard output; progress and diagnostics to standard error.
// Colour only on a terminal, and not when NO_COLOR is set.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TOOLS_EFFC_TERMINAL_H
#define EFFC_TOOLS_EFFC_TERMINAL_H

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace effc::cli {

/// "effc: error: MESSAGE", one line on standard error.
void printError(std::string_view message);
/// "effc: note: MESSAGE".
void printNote(std::string_view message);

/// Writes a result. Throws Failure when standard output cannot take it.
void print(std::string_view text);
/// Makes sure that all of it is written.
void flushOutput();

/// "1.5 GiB": bytes with a binary unit.
std::string formatBytes(uint64_t bytes);
/// "1,234,567".
std::string formatCount(uint64_t count);
/// A number with `digits` significant digits at least.
std::string formatNumber(double number, int digits = 4);

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

#endif // EFFC_TOOLS_EFFC_TERMINAL_H
