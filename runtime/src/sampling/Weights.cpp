#include "runtime/src/sampling/Weights.h"

#include <cmath>

double effc::rt::expOfNegative(double x) {
  if (!(x > -708.0))
    return 0.0;
  // x = k ln 2 + r with |r| <= ln 2 / 2; exp(r) by its Taylor polynomial, whose
  // first missing term is below 2^-56.
  double k = std::floor(x * QuickExp::kLog2e + 0.5);
  double r = (x - k * QuickExp::kLn2High) - k * QuickExp::kLn2Low;
  double sum = 1.0;
  for (int n = 14; n >= 1; --n)
    sum = 1.0 + sum * r / n;
  auto exponent = static_cast<uint64_t>(static_cast<int64_t>(k) + 1023);
  return sum * std::bit_cast<double>(exponent << 52);
}
