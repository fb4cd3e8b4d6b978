// What mixers of class retrieval ask of their operands alike.
#ifndef EFFC_DIALECTS_SEQ_RETRIEVALCHECKS_H
#define EFFC_DIALECTS_SEQ_RETRIEVALCHECKS_H

#include "mlir/IR/Operation.h"

namespace effc::seq {

/// Reports a number of keys on each axis whose square is no i32, or a `topK`
/// that is not from 1 to that square.
mlir::LogicalResult verifyProductKeys(mlir::Operation *op, int64_t keys,
                                      int64_t topK);

/// Reports a table, `name` in the message, with fewer rows than there are pairs
/// of keys.
mlir::LogicalResult verifyReachable(mlir::Operation *op, llvm::StringRef name,
                                    int64_t rows, int64_t keys);

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_RETRIEVALCHECKS_H
