// The maximum that a stabilised recurrence scales its states by.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_RUNNINGMAXIMUM_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_RUNNINGMAXIMUM_H

#include "passes/seq_to_tile/KernelBuilder.h"

namespace effc {

/// States before and what comes to them, scaled by one maximum: of value channels
/// all of these are rows, of a head f32.
struct RunningMaximum {
  mlir::Value before, after;
  /// Logarithms of what states before are multiplied by, and what comes to them.
  mlir::Value logKept, logAdded;
  mlir::Value carried; ///< `after` as a state has it

  /// max(logDecay + before, own), from a maximum that is carried: a row of value
  /// channels, or of a head a row of one element.
  static RunningMaximum of(KernelBuilder &k, mlir::Value carriedBefore,
                           mlir::Value logDecay, mlir::Value own,
                           bool perValue);
  /// The number that a carried maximum of a head is.
  static mlir::Value numberOf(KernelBuilder &k, mlir::Value carried);
};

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_RUNNINGMAXIMUM_H
