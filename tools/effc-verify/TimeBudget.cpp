#include "tools/effc-verify/TimeBudget.h"

#include <algorithm>
#include <cmath>

using namespace effc::verify;

double TimeBudget::passed() const {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double TimeBudget::left() const { return std::max(seconds - passed(), 0.0); }

LinearTime LinearTime::through(size_t fewer, double fewerSeconds, size_t more,
                               double moreSeconds) {
  LinearTime time;
  time.each =
      std::max((moreSeconds - fewerSeconds) / static_cast<double>(more - fewer),
               moreSeconds / static_cast<double>(more) / 4);
  time.fixed =
      std::max(moreSeconds - time.each * static_cast<double>(more), 0.0);
  return time;
}

size_t effc::verify::tokensWithin(double seconds, size_t evaluations,
                                  LinearTime time, size_t fewest,
                                  size_t wanted) {
  double fit =
      (seconds / static_cast<double>(evaluations) - time.fixed) / time.each;
  if (!(fit < static_cast<double>(wanted))) // also where nothing was measured
    return wanted;
  size_t count = fit > 0 ? static_cast<size_t>(fit) : 0;
  return std::clamp(count, std::min(fewest, wanted), wanted);
}
