// Which ops of seq belong together for passes that group and translate them.
#ifndef EFFC_DIALECTS_SEQ_OPKINDS_H
#define EFFC_DIALECTS_SEQ_OPKINDS_H

#include "dialects/seq/SeqOps.h"

namespace effc::seq {

/// Whether `op` only renames memory: a slice, a reshape, or a repetition. Its
/// first operand is what is read.
inline bool isViewOp(mlir::Operation *op) {
  return op->hasTrait<OpTrait::View>();
}

/// Whether `op` computes each element from the elements at the same place.
inline bool isElementwiseOp(mlir::Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>();
}

/// Whether `op` is a written step without a state: it computes each token's row by
/// itself.
inline bool isStatelessStep(mlir::Operation *op) {
  auto step = llvm::dyn_cast<RecurrenceOp>(op);
  return step && step.getInitialStates().empty();
}

/// Whether `op` is a product of rows with a matrix of weights.
inline bool isDenseOp(mlir::Operation *op) {
  return op->hasTrait<OpTrait::Dense>();
}

/// Whether `op` is a product of whole rows, its first operand, with a matrix, the
/// second.
inline bool isProductOfRows(mlir::Operation *op) {
  return op->hasTrait<OpTrait::WholeRows>();
}

/// Whether nothing follows `op` in a kernel.
inline bool endsKernel(mlir::Operation *op) {
  return op->hasTrait<OpTrait::EndsKernel>();
}

/// Whether no kernel encloses `op`.
inline bool isBetweenKernels(mlir::Operation *op) {
  return op->hasTrait<OpTrait::BetweenKernels>();
}

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_OPKINDS_H
