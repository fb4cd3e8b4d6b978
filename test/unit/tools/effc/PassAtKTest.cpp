#include "tools/effc/PassAtK.h"

#include <gtest/gtest.h>
#include <vector>

using namespace effc::cli;

/// The estimate by its meaning: the part of all choices of k samples that have a right
/// one.
static double counted(uint64_t samples, uint64_t right, uint64_t k) {
  uint64_t all = 0, good = 0;
  for (uint64_t chosen = 0; chosen < uint64_t(1) << samples; ++chosen) {
    if (static_cast<uint64_t>(__builtin_popcountll(chosen)) != k)
      continue;
    ++all;
    good += (chosen & ((uint64_t(1) << right) - 1)) != 0;
  }
  return double(good) / double(all);
}

TEST(PassAtK, IsThePartOfChoicesWithARightOne) {
  for (uint64_t samples = 1; samples <= 9; ++samples)
    for (uint64_t right = 0; right <= samples; ++right)
      for (uint64_t k = 1; k <= samples; ++k)
        EXPECT_NEAR(passAtK(samples, right, k), counted(samples, right, k),
                    1e-12)
            << samples << " " << right << " " << k;
}

TEST(PassAtK, StaysANumberForManySamples) {
  EXPECT_NEAR(passAtK(1000000, 1, 1000), 1e-3, 1e-12);
  EXPECT_NEAR(passAtK(1000000, 1000, 1000000), 1, 1e-12);
}
