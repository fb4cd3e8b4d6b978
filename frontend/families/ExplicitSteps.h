// Recurrences of the explicit layout that no op is: their steps are written out.
#ifndef EFFC_FRONTEND_FAMILIES_EXPLICITSTEPS_H
#define EFFC_FRONTEND_FAMILIES_EXPLICITSTEPS_H

#include "frontend/model/WrittenStep.h"

namespace effc::frontend {

/// Writes a step of the operands of a signature, by the numbers of a row of the
/// table of recurrences, in its order; the mixed tokens.
using WriteStep = mlir::Value (*)(WrittenStep &step,
                                  llvm::ArrayRef<double> numbers);

/// The delta rule with momentum, by `scale`, `eps`, `tau` and `most_loss`.
llvm::ArrayRef<seq::OperandSignature> getMomentumSignature();
mlir::Value writeMomentumStep(WrittenStep &step,
                              llvm::ArrayRef<double> numbers);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_EXPLICITSTEPS_H
