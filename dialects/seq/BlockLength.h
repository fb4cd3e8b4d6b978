// How many positions a block of keys may have.
#ifndef EFFC_DIALECTS_SEQ_BLOCKLENGTH_H
#define EFFC_DIALECTS_SEQ_BLOCKLENGTH_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

#include <cstdint>

namespace effc::seq {

/// Kernels count the distance of keys in as many.
constexpr int64_t kMostBlock = int64_t(1) << 30;

/// Fails with a diagnostic on `op` unless its attribute 'block' is in 1..kMostBlock.
inline mlir::LogicalResult verifyBlockLength(mlir::Operation *op,
                                             int64_t block) {
  if (block >= 1 && block <= kMostBlock)
    return mlir::success();
  return op->emitOpError() << "expects 'block' in 1.." << kMostBlock
                           << ", but got " << block;
}

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_BLOCKLENGTH_H
