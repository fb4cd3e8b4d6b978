// A mixer that has no op: a `seq.recurrence`, whose step is written out.
#ifndef EFFC_FRONTEND_MODEL_WRITTENSTEP_H
#define EFFC_FRONTEND_MODEL_WRITTENSTEP_H

#include "frontend/model/ModelBuilder.h"

namespace effc::frontend {

/// Ops that are made while it lives belong to the step of one token. finish()
/// ends it.
class WrittenStep {
public:
  /// The result has the type of `like`. Tokens, parameters and states of the
  /// step are those of the model, tokens without T.
  WrittenStep(ModelBuilder &model, const std::string &name, mlir::Value like,
              llvm::ArrayRef<mlir::Value> tokens,
              llvm::ArrayRef<mlir::Value> parameters,
              llvm::ArrayRef<mlir::Value> states);

  mlir::Value token(size_t index) { return rows[index]; }
  mlir::Value parameter(size_t index) { return rows[tokens + index]; }
  mlir::Value state(size_t index) { return rows[tokens + parameters + index]; }

  /// An op on elements that has no attributes.
  template <typename Op, typename... Values>
  mlir::Value make(Values... values) {
    return Op::create(builder, location, values...);
  }
  /// The product of both, over dimensions that are a letter each: "h" and "hv"
  /// to "hv", or summed over where `map` lacks one.
  mlir::Value contract(mlir::Value left, llvm::StringRef leftMap,
                       mlir::Value right, llvm::StringRef rightMap,
                       llvm::StringRef map);
  /// exp(-exp(rate) softplus(step + bias)), all [H]: what a token leaves of the
  /// state. In the step, where it is seen to lie between 0 and 1.
  mlir::Value decay(mlir::Value step, mlir::Value rate, mlir::Value bias);
  /// The same number in each element of a tensor of the type of `like`.
  mlir::Value constant(double number, mlir::Value like);

  /// Gives the token's row and the next states; the mixed tokens.
  mlir::Value finish(mlir::Value row, llvm::ArrayRef<mlir::Value> next);

private:
  ModelBuilder &model;
  mlir::OpBuilder &builder;
  mlir::OpBuilder::InsertionGuard guard;
  mlir::Location location;
  seq::RecurrenceOp op;
  size_t tokens, parameters;
  llvm::SmallVector<mlir::Value> rows;
};

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_WRITTENSTEP_H
