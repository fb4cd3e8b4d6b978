// What a written step scales its state by.
#ifndef EFFC_DIALECTS_SEQ_STEPDECAYS_H
#define EFFC_DIALECTS_SEQ_STEPDECAYS_H

#include "dialects/seq/SeqOps.h"

namespace effc::seq {

/// A factor of the state: a `seq.exp`, a `seq.sigmoid`, one minus a
/// `seq.sigmoid` or a constant in (0, 1], and which of H, K and V (0, 1, 2) its
/// dimensions are, in order.
struct StepDecay {
  mlir::Value factor;
  llvm::SmallVector<int64_t, 3> dimensions;
};

/// Which dimensions of the result the dimensions of a contraction's operand
/// are, in order; empty where the operand has one that the result lacks.
std::optional<llvm::SmallVector<int64_t, 3>> dimensionsInResult(ContractOp op,
                                                                unsigned side);

/// The x of `1 - sigmoid(x)`; null where `factor` is something else.
mlir::Value complementOf(mlir::Value factor);

/// Appends the decays whose product `factor` is; its dimensions are those of
/// the state that `dimensions` names. Why it is none otherwise, or nothing.
std::string readDecays(mlir::Value factor, llvm::ArrayRef<int64_t> dimensions,
                       llvm::SmallVectorImpl<StepDecay> &decays);

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_STEPDECAYS_H
