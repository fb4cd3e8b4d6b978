// What the values of a written step are products and multiples of.
#ifndef EFFC_DIALECTS_SEQ_STEPFACTORS_H
#define EFFC_DIALECTS_SEQ_STEPFACTORS_H

#include "dialects/seq/SeqOps.h"

namespace effc::seq {

/// A factor of a product, and which of the product's dimensions its own are.
struct StepFactor {
  mlir::Value value;
  llvm::SmallVector<int64_t, 3> dimensions;

  bool has(int64_t dimension) const {
    return llvm::is_contained(dimensions, dimension);
  }
  /// A value as the one factor of itself.
  static StepFactor whole(mlir::Value value);
};

/// Which dimensions of the result the dimensions of a contraction's operand
/// are, in order; empty where the operand has one that the result lacks.
std::optional<llvm::SmallVector<int64_t, 3>> dimensionsInResult(ContractOp op,
                                                                unsigned side);

/// The operands of a product without a sum, or what is repeated; nothing where
/// `factor` is neither.
llvm::SmallVector<StepFactor> splitFactor(const StepFactor &factor);

/// A value as slope * base + offset, of which base is no sum or multiple.
struct StepLine {
  mlir::Value base;
  double slope = 1, offset = 0;

  static StepLine of(mlir::Value value);
};

/// The number of a constant.
std::optional<double> numberOf(mlir::Value value);

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_STEPFACTORS_H
