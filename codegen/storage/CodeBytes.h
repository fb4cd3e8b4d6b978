// Codes that a permutation of bytes looks up and places.
#ifndef EFFC_CODEGEN_STORAGE_CODEBYTES_H
#define EFFC_CODEGEN_STORAGE_CODEBYTES_H

#include "codegen/storage/Unpack.h"
#include "dialects/storage/StorageDialect.h"

#include <optional>

namespace effc::stored {

/// The words of a code's piece (`BlockBits::wordsOf`).
using PlaneWords = llvm::function_ref<llvm::ArrayRef<mlir::Value>(int64_t)>;

/// f32 of a run's codes, which are `above` too large: with a code, or an entry of a table,
/// as the second byte u of 2^15 they are 2^15 + u, and `above` is 2^15 and what u is more
/// than the code.
struct CodeBytes {
  llvm::SmallVector<mlir::Value> numbers;
  int64_t above;

  /// What integers, which no table has, are too large by.
  static int64_t aboveOf(storage::FieldAttr integers);

  /// Of eight codes in words: integers of up to 8 bits, numbers of 8 bits (E4M3), and
  /// tables of 16 entries. Absent for others.
  static std::optional<CodeBytes> of(mlir::OpBuilder &b, mlir::Location loc,
                                     const Permute &permute,
                                     storage::FieldAttr code,
                                     const PlaneWords &words, int64_t lanes);
};

} // namespace effc::stored

#endif // EFFC_CODEGEN_STORAGE_CODEBYTES_H
