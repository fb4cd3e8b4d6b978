#include "tools/effc-verify/TimeBudget.h"

#include <algorithm>
#include <cmath>

using namespace effc::verify;

double TimeBudget::passed() const {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double TimeBudget::left() const { return std::max(seconds - passed(), 0.0); }

size_t effc::verify::tokensWithin(double seconds, size_t evaluations,
                                  size_t tokens, double measured, size_t fewest,
                                  size_t wanted) {
  double each = measured / static_cast<double>(tokens);
  double fit = seconds / (static_cast<double>(evaluations) * each);
  if (!(fit < static_cast<double>(wanted))) // also where nothing was measured
    return wanted;
  return std::clamp(static_cast<size_t>(fit), std::min(fewest, wanted), wanted);
}
