// Between which numbers the values of a written step lie.
#ifndef EFFC_DIALECTS_SEQ_STEPBOUNDS_H
#define EFFC_DIALECTS_SEQ_STEPBOUNDS_H

#include "dialects/seq/SeqOps.h"

namespace effc::seq {

/// The least and the largest number that a value's elements may be.
struct Bounds {
  float low, high;
};

/// Bounds of the values of a body, whatever its arguments are; NaN aside.
///
/// They are computed in f32, as kernels compute the values: rounding keeps the
/// order of numbers, so that no rounded element lies outside either. Of a
/// weighted mean the last bit may.
class StepBounds {
public:
  explicit StepBounds(mlir::Block &body);

  Bounds of(mlir::Value value) const;
  /// Whether a value is never below 0 nor above 1.
  bool isShare(mlir::Value value) const;

private:
  /// Of a sum that is a weighted mean of two values; nothing where it is none.
  std::optional<Bounds> ofMean(AddOp op) const;

  llvm::DenseMap<mlir::Value, Bounds> known;
};

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_STEPBOUNDS_H
