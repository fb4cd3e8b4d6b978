#include "tools/effc/PassAtK.h"

double effc::cli::passAtK(uint64_t samples, uint64_t right, uint64_t k) {
  if (samples - right < k)
    return 1; // every choice of k has a right one
  // C(n - c, k) / C(n, k) as a product, since the two overflow.
  double none = 1;
  for (uint64_t i = samples - right + 1; i <= samples; ++i)
    none *= 1 - double(k) / double(i);
  return 1 - none;
}
