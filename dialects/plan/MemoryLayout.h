// How tensors lie in memory: the one place that knows strides. What builds
// kernels and what writes weights must agree on it.
#ifndef EFFC_DIALECTS_PLAN_MEMORYLAYOUT_H
#define EFFC_DIALECTS_PLAN_MEMORYLAYOUT_H

#include "mlir/IR/BuiltinTypes.h"

namespace effc::plan {

/// Rows of buffers and weights start on multiples of this many bytes, so that
/// they begin a cache line and whole vectors never share one with a neighbour.
inline constexpr int64_t kRowAlignment = 64;

/// Strides in elements of a tensor as it lies in memory, one per dimension.
///
/// The arena: [T, ...] with the dimensions after T dense and rows padded.
llvm::SmallVector<int64_t> arenaStrides(mlir::RankedTensorType type);
/// A weight: a matrix with padded rows, a vector dense.
llvm::SmallVector<int64_t> weightStrides(mlir::RankedTensorType type);
/// A state: dense, behind a leading dimension of slots, `slotBytes` apart.
llvm::SmallVector<int64_t> stateStrides(mlir::RankedTensorType type,
                                        int64_t slotBytes);
/// Logits: dense rows, as the caller gets them.
llvm::SmallVector<int64_t> denseStrides(mlir::RankedTensorType type);

/// Bytes of an arena buffer that holds `rows` rows of `type`.
int64_t arenaBytes(mlir::RankedTensorType type, int64_t rows);

} // namespace effc::plan

#endif // EFFC_DIALECTS_PLAN_MEMORYLAYOUT_H
