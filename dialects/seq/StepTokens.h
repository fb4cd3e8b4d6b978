// The body of `seq.recurrence`, written for one token, on all tokens at once.
#ifndef EFFC_DIALECTS_SEQ_STEPTOKENS_H
#define EFFC_DIALECTS_SEQ_STEPTOKENS_H

#include "dialects/seq/StepStructure.h"

#include "mlir/IR/Builders.h"

namespace effc::seq {

/// Copies values of the body to values that lead with T. A value that depends
/// on parameters alone is copied as it is, without T.
class StepTokens {
public:
  /// `step` is linear, and of the recurrence `op`.
  StepTokens(mlir::OpBuilder &builder, mlir::Location loc, RecurrenceOp op,
             StepStructure &step, mlir::ValueRange tokens,
             mlir::ValueRange parameters);

  /// The canonical quantities; `forReadOut` holds the tokens and parameters,
  /// from which the read-out copies again.
  CanonicalQuantities buildQuantities();
  /// The result, where the query has read `reading.read` of the state and, of
  /// the sum of keys, `reading.denominator`.
  mlir::Value buildReadOut(const LinearReading &reading);

private:
  mlir::Value copy(mlir::Value value);
  mlir::Value copyOp(mlir::Operation *op);
  mlir::Value repeat(mlir::Value x, bool perToken, llvm::ArrayRef<int64_t> has,
                     llvm::ArrayRef<int64_t> target,
                     llvm::ArrayRef<int64_t> shape);
  bool varies(mlir::Value original, mlir::Value copied) const;
  /// A copy with T in front, of a copy without.
  mlir::Value alongTokens(mlir::Value copied, mlir::Value like);
  mlir::Value add(mlir::Value a, mlir::Value b);
  /// A copy of a value, or of its opposite.
  mlir::Value signedCopy(mlir::Value value, double sign);
  LaterWrite copyOf(const StepWrite &write);
  mlir::Value eraseScaleOf(const StepWrite &write);
  mlir::Value logDecay(const StepDecay &decay, llvm::ArrayRef<int64_t> target);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  RecurrenceOp op;
  StepStructure &step;
  llvm::SmallVector<mlir::Value> operands; // tokens, then parameters
  llvm::DenseMap<mlir::Value, mlir::Value> copies;
};

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_STEPTOKENS_H
