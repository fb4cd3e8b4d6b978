// What a semiseparable matrix is made of.
#ifndef EFFC_DIALECTS_SEQ_FACTORS_H
#define EFFC_DIALECTS_SEQ_FACTORS_H

#include "dialects/seq/SeqOps.h"

namespace effc::seq {

/// The tensors from which the ops that a matrix is built by make it.
struct Factors {
  llvm::SmallVector<mlir::Value, 2> logDecays; ///< [T, H] or [H]; they add
  llvm::SmallVector<mlir::Value, 2> rows;      ///< c: [T, H, 1 or N]
  llvm::SmallVector<mlir::Value, 2> columns;   ///< b: [T, H, 1 or N]

  /// None where another op made the matrix or a part of it, which would then
  /// have to be materialised.
  static std::optional<Factors> of(mlir::Value matrix);
};

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_FACTORS_H
