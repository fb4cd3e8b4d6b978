#include "tools/effc/Terminal.h"

#include "tools/effc/Failure.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace effc::cli;

static bool errorIsTerminal() { return isatty(STDERR_FILENO) == 1; }

static bool useColour() {
  const char *refused = std::getenv("NO_COLOR");
  return errorIsTerminal() && !(refused && *refused);
}

static void printDiagnostic(const char *kind, const char *colour,
                            std::string_view message) {
  bool colours = useColour();
  std::fflush(stdout); // what came before stands before
  std::fprintf(stderr, "effc: %s%s:%s %.*s\n", colours ? colour : "", kind,
               colours ? "\x1b[0m" : "", static_cast<int>(message.size()),
               message.data());
}

void effc::cli::printError(std::string_view message) {
  printDiagnostic("error", "\x1b[1;31m", message);
}

void effc::cli::printNote(std::string_view message) {
  printDiagnostic("note", "\x1b[1m", message);
}

static void outputFailed() {
  throw Failure(std::string("cannot write to standard output: ") +
                std::strerror(errno));
}

void effc::cli::print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
    outputFailed();
}

void effc::cli::flushOutput() {
  if (std::fflush(stdout) != 0)
    outputFailed();
}

std::string effc::cli::formatBytes(uint64_t bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024)
    return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(units)) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", value, units[unit]);
  return text;
}

std::string effc::cli::formatCount(uint64_t count) {
  std::string digits = std::to_string(count);
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string effc::cli::formatNumber(double number, int digits) {
  char text[48];
  // As many decimals as leave `digits` significant ones.
  int whole = std::isfinite(number) && std::fabs(number) >= 1
                  ? static_cast<int>(std::log10(std::fabs(number))) + 1
                  : 1;
  std::snprintf(text, sizeof text, "%.*f", std::max(digits - whole, 0), number);
  return text;
}

static constexpr auto kQuiet = std::chrono::seconds(1);
static constexpr auto kRedraw = std::chrono::milliseconds(100);
static constexpr auto kLine = std::chrono::seconds(5);

Progress::Progress(std::string what, std::string of, uint64_t all)
    : label(std::move(what)), unit(std::move(of)), total(all),
      last(Clock::now()), terminal(errorIsTerminal()) {}

void Progress::update(uint64_t done) {
  Clock::time_point now = Clock::now();
  auto pause = !drawn     ? Clock::duration(kQuiet)
               : terminal ? Clock::duration(kRedraw)
                          : Clock::duration(kLine);
  if (total == 0 || now - last < pause)
    return;
  last = now;
  drawn = true;
  double part =
      static_cast<double>(std::min(done, total)) / static_cast<double>(total);
  bool bytes = unit == "bytes";
  std::string state =
      bytes ? formatBytes(done) + " of " + formatBytes(total)
            : formatCount(done) + " of " + formatCount(total) + " " + unit;
  if (terminal) {
    constexpr int kWidth = 30;
    std::string bar(static_cast<size_t>(part * kWidth), '#');
    bar.resize(kWidth, ' ');
    std::fprintf(stderr, "\r\x1b[K%s [%s] %3.0f%% %s", label.c_str(),
                 bar.c_str(), 100 * part, state.c_str());
  } else {
    std::fprintf(stderr, "%s: %.0f%% (%s)\n", label.c_str(), 100 * part,
                 state.c_str());
  }
}

Progress::~Progress() {
  if (drawn && terminal)
    std::fprintf(stderr, "\r\x1b[K");
}
