// How far kernels are from their definition.
#ifndef EFFC_TEST_UNIT_CONTRACT_RELATIVEERROR_H
#define EFFC_TEST_UNIT_CONTRACT_RELATIVEERROR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

namespace effc::test {

/// The largest difference of two tensors, relative to the largest number
/// expected; infinite where one has a NaN. Numbers that f32 does not hold in full are
/// held against the least that it does.
inline double errorOf(llvm::ArrayRef<float> found,
                      llvm::ArrayRef<double> expected) {
  EXPECT_EQ(found.size(), expected.size());
  double difference = 0, magnitude = 0;
  for (auto [a, b] : llvm::zip(found, expected)) {
    double distance = std::fabs(a - b);
    difference =
        std::isnan(distance) ? INFINITY : std::fmax(difference, distance);
    magnitude = std::fmax(magnitude, std::fabs(b));
  }
  if (magnitude == 0)
    return difference;
  double least = std::numeric_limits<float>::min();
  return difference / std::fmax(magnitude, least);
}

} // namespace effc::test

#endif // EFFC_TEST_UNIT_CONTRACT_RELATIVEERROR_H
