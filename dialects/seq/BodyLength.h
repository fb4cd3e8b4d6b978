// How much one kernel may compute.
#ifndef EFFC_DIALECTS_SEQ_BODYLENGTH_H
#define EFFC_DIALECTS_SEQ_BODYLENGTH_H

#include "mlir/IR/Operation.h"

namespace effc::seq {

/// Ops of a body that becomes one kernel, at most: its code is straight-line,
/// and the time to compile it grows faster than it does.
constexpr size_t kMostBodyOps = 512;

/// Checks that the body of `op` has no more than that.
mlir::LogicalResult verifyBodyLength(mlir::Operation *op, mlir::Block &body);

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_BODYLENGTH_H
