// Scalar arithmetic of a thread, and what lanes exchange.
#ifndef EFFC_CODEGEN_NVPTX_THREADMATH_H
#define EFFC_CODEGEN_NVPTX_THREADMATH_H

#include "codegen/nvptx/ThreadState.h"

namespace effc::nvptx {

mlir::Value exponential(ThreadState &t, mlir::Value x);
/// An op of arith or math, on what `mapping` makes of its operands.
mlir::Value emitScalar(ThreadState &t, mlir::Operation *op,
                       mlir::IRMapping &mapping);
/// What the lane has whose number differs in the bit `distance`.
mlir::Value shuffle(ThreadState &t, mlir::Value value, int64_t distance);

} // namespace effc::nvptx

#endif // EFFC_CODEGEN_NVPTX_THREADMATH_H
