// What a step that is written out adds to its state: products of keys and
// values, of which the values may follow from what probes read of the state.
#ifndef EFFC_DIALECTS_SEQ_STEPWRITES_H
#define EFFC_DIALECTS_SEQ_STEPWRITES_H

#include "dialects/seq/SeqOps.h"

#include "llvm/ADT/SmallBitVector.h"

#include <optional>

namespace effc::seq {

/// A term of a sum, added or subtracted.
struct StepTerm {
  mlir::Value value;
  double sign = 1;
};

/// The most terms of a next state beside the decayed one.
inline constexpr size_t kMostNextTerms = 64;

/// The terms of a sum of sums, of which there may be more than there are ops;
/// none where they are too many.
std::optional<llvm::SmallVector<StepTerm>> termsOf(mlir::Value sum);

/// A term of a next state as a product of a key and a value.
struct StepProduct {
  ContractOp op;
  double sign;
  mlir::Value key, value; ///< [H, K] and [H, V]
  mlir::Value probed;     ///< the state that the value's probe reads, or null
  /// The other products in that state, by number.
  llvm::SmallBitVector before;
};

/// What is written at once.
struct StepWrite {
  mlir::Value key, value; ///< [H, K] and [H, V]; null where nothing is written
  mlir::Value probe;      ///< [H, K], or null
  mlir::Value probed;     ///< [H, V]: what the probe reads
  bool probesOldState = false;
  /// [H, K]: the key of a product of `probed` itself; null where there is none.
  mlir::Value erase;
  /// How `value` follows from `probed`: the factors [H] and the sign on the
  /// way.
  llvm::SmallVector<mlir::Value> scales;
  double sign = 1;
  bool valueDependsOnProbe = false;
  /// 1 or -1: what is added of the value, and of the product with `erase`.
  double valueSign = 1, eraseSign = 1;
};

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_STEPWRITES_H
