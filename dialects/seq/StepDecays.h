// What a written step scales its state by.
#ifndef EFFC_DIALECTS_SEQ_STEPDECAYS_H
#define EFFC_DIALECTS_SEQ_STEPDECAYS_H

#include "dialects/seq/StepBounds.h"
#include "dialects/seq/StepFactors.h"

namespace effc::seq {

/// A factor of the state, and which of H, K and V (0, 1, 2) its dimensions are,
/// in order: a `seq.exp`, a `seq.sigmoid`, one minus a `seq.sigmoid`, a constant
/// in (0, 1], or what is bound to lie in [0, 1].
using StepDecay = StepFactor;

/// The x of `1 - sigmoid(x)`, however it is spelled; null where `factor` is
/// something else.
mlir::Value complementOf(mlir::Value factor);

/// Appends the decays whose product `factor` is; its dimensions are those of
/// the state that `dimensions` names. Why it is none otherwise, or nothing.
std::string readDecays(mlir::Value factor, llvm::ArrayRef<int64_t> dimensions,
                       const StepBounds &bounds,
                       llvm::SmallVectorImpl<StepDecay> &decays);

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_STEPDECAYS_H
