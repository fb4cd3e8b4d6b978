// Which tensors the dialect speaks of (see the table in SeqBase.td).
#ifndef EFFC_DIALECTS_SEQ_TENSORTYPES_H
#define EFFC_DIALECTS_SEQ_TENSORTYPES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace effc::seq {

/// f32, positive dimensions, only the first of which may be dynamic.
bool isValueTensor(mlir::Type type);
/// f32, positive static dimensions.
bool isStaticTensor(mlir::Type type);
/// Two positive static dimensions, of any storage of numbers whose blocks divide a
/// row.
bool isWeightMatrix(mlir::Type type);
/// The same with three dimensions: a matrix for each block of channels.
bool isWeightBlocks(mlir::Type type);
/// What `seq.weight` may name: isStaticTensor, isWeightMatrix or
/// isWeightBlocks.
bool isWeightTensor(mlir::Type type);
/// i32, one dimension, dynamic or not.
bool isIndexTensor(mlir::Type type);
/// i32, positive dimensions, only the first of which may be dynamic.
bool isChoiceTensor(mlir::Type type);

/// The type of a value that is a ranked tensor.
inline mlir::RankedTensorType typeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

/// `type` with `rows` as its leading dimension.
mlir::RankedTensorType withRows(mlir::RankedTensorType type, int64_t rows);

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_TENSORTYPES_H
