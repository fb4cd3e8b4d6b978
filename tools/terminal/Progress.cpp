// A bar on a terminal, lines elsewhere.
#include "tools/terminal/Progress.h"

#include "tools/terminal/Quantities.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

using namespace effc::cli;

static constexpr auto kQuiet = std::chrono::seconds(1);
static constexpr auto kRedraw = std::chrono::milliseconds(100);
static constexpr auto kLine = std::chrono::seconds(5);

Progress::Progress(std::string what, std::string of, uint64_t all)
    : label(std::move(what)), unit(std::move(of)), total(all),
      last(Clock::now()), terminal(isatty(STDERR_FILENO) == 1) {}

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
