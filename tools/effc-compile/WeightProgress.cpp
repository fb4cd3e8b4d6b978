// A bar of thirty cells, at most ten times a second.
#include "tools/effc-compile/WeightProgress.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

using namespace effc;

void WeightProgress::update(uint64_t done, uint64_t total) {
  using namespace std::chrono_literals;
  Clock::time_point now = Clock::now();
  bool finished = done >= total;
  if (total == 0 || (now - begun < 500ms && !open))
    return;
  double fraction = static_cast<double>(done) / static_cast<double>(total);
  if (!isatty(STDERR_FILENO)) {
    unsigned reached = static_cast<unsigned>(fraction * 10);
    if (reached > tenths || finished)
      std::fprintf(stderr, "weights: %u %%\n", static_cast<unsigned>(fraction * 100));
    tenths = reached;
    open = true;
    return;
  }
  if (open && !finished && now - shown < 100ms)
    return;
  shown = now;
  open = true;
  constexpr int kCells = 30;
  int filled = static_cast<int>(fraction * kCells);
  bool color = !std::getenv("NO_COLOR");
  std::string bar = std::string(filled, '#') + std::string(kCells - filled, '.');
  std::fprintf(stderr, "\rweights [%s%s%s] %3.0f %%%s", color ? "\033[32m" : "", bar.c_str(),
               color ? "\033[0m" : "", fraction * 100, finished ? "\n" : "");
}
