//===- CaseRun.h - A kernel test on a device ------------------------------===//
#ifndef EFFC_RUNTIME_TOOLS_DEVICE_CHECK_CASERUN_H
#define EFFC_RUNTIME_TOOLS_DEVICE_CHECK_CASERUN_H

#include "runtime/tools/device_check/Devices.h"

namespace effc::check {

/// How far numbers are from others that they should be.
struct Distance {
  double difference = 0, magnitude = 0; // the largest of each
  double squares = 0, norm = 0;         // sums

  void add(double found, double expected);
  /// The largest difference over the largest number, which counts as the least
  /// that f32 holds in full where it is less; infinite for NaN.
  double largest() const;
  /// |found - expected| / |expected|, both as vectors.
  double relative() const;
};

/// What a case gave on a device.
struct CaseOutcome {
  std::string error; // why it could not be run; empty: it was
  double seconds = 0;
  double largest = 0, relative = 0; // the worst of all sequences and states
  bool passed = false;
  std::vector<float> found; // outputs and states, in the order of the steps
};

CaseOutcome run(const CaseFile &file, rt::Device &device);

/// The largest difference of what two devices gave, over the largest number.
double differenceOf(const CaseOutcome &a, const CaseOutcome &b);

} // namespace effc::check

#endif // EFFC_RUNTIME_TOOLS_DEVICE_CHECK_CASERUN_H
