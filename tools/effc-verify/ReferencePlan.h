// How much of a model the reference evaluates in the time there is.
#ifndef EFFC_TOOLS_EFFC_VERIFY_REFERENCEPLAN_H
#define EFFC_TOOLS_EFFC_VERIFY_REFERENCEPLAN_H

#include "tools/effc-verify/TimeBudget.h"

#include <cstddef>

namespace effc::verify {

struct ReferenceCost {
  double seconds; // that all evaluations may take
  size_t wanted;  // tokens of the longest sequence
  size_t plain;   // evaluations of the ops' own meaning: in double, in f32, ...
  size_t forms;   // evaluations of the sample besides those
  LinearTime time; // of the sample, where there is one
  /// What the sample costs of the whole model; 1 where there is no sample.
  double share;
};

struct ReferencePlan {
  /// Tokens that the whole model is evaluated for; 0: not at all.
  size_t whole = 0;
  /// Tokens that the sample is evaluated for, in the forms too; 0: there is no
  /// sample, and the forms are the whole model's.
  size_t sample = 0;
};

/// The shortest sequence that says something.
inline constexpr size_t kFewestTokens = 4;

/// All of the model where all of the tokens fit. Else half of the time is the
/// sample's, which is so cheap that its sequence is long enough to try chunks,
/// and half the whole model's, with fewer tokens and no forms, or none where
/// kFewestTokens do not fit. Without a sample the whole model is tried with as
/// many tokens as fit, and at least kFewestTokens.
ReferencePlan planReference(const ReferenceCost &cost);

} // namespace effc::verify

#endif // EFFC_TOOLS_EFFC_VERIFY_REFERENCEPLAN_H
