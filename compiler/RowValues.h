// Values of @forward that have numbers for each token, as rows of the output.
#ifndef EFFC_COMPILER_ROWVALUES_H
#define EFFC_COMPILER_ROWVALUES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"

namespace effc {

/// Knows which values of a function have rows of the output, and which those of the
/// tokens. The function has one block; values that are made later are not looked at.
class RowValues {
public:
  explicit RowValues(mlir::func::FuncOp forward);

  /// What a value gives for each row; 0 where that is not numbers.
  static int64_t countColumns(mlir::Value value);

  /// [rows of the output, columns], of a value with columns.
  mlir::Value toOutputRows(mlir::OpBuilder &builder, mlir::Value value);

private:
  mlir::func::FuncOp forward;
  llvm::DenseSet<mlir::Value> selected;
};

/// Values [rows, columns] one after another, as one; some at a time, since a kernel reads
/// a bounded number of them.
mlir::Value joinRows(mlir::OpBuilder &builder,
                     llvm::SmallVector<mlir::Value> parts);

} // namespace effc

#endif // EFFC_COMPILER_ROWVALUES_H
