// How codes become numbers without a conversion: as bits of an f32's fraction.
#ifndef EFFC_CODEGEN_STORAGE_CODEPLACES_H
#define EFFC_CODEGEN_STORAGE_CODEPLACES_H

#include "dialects/storage/StorageDialect.h"

#include <optional>

namespace effc::stored {

/// The places at which codes of a block are laid into the fraction of 2^23 so that one
/// fused multiply-add makes their numbers. With a code u at bit p, an f32 m is
/// 2^23 + u 2^p, and
///
///     (u - z) s = m (s 2^-p) - (2^(23-p) + z) s
///
/// where the sum is exact, and so is its last term (`bits` says that it has at most 24
/// significant bits): the number is that of `BlockNumbers.h`, but for the sign of a zero.
struct CodePlaces {
  /// Bits p, lowest first, as many as the block's codes have apart: a shift of a word
  /// serves as many neighbours.
  llvm::SmallVector<int64_t> bits;
  /// z without the block's zero, which is subtracted from it.
  int64_t zero;
  /// What flips the sign of a signed code, which then counts from the least one.
  int64_t flip;

  /// Whether a number that is `above` more than a code, less the block's zero, times the
  /// scale, has an exact last term, and all elements of a run share what it is made of.
  static bool isExact(storage::BlockType type, int64_t above);
  /// Whether all elements of a run share a field.
  static bool isShared(storage::FieldAttr field);

  /// For runs of `lanes` neighbours. Absent where codes are no integers by themselves,
  /// scales are not exact or not those of a run, or no place is exact.
  static std::optional<CodePlaces> of(storage::BlockType type, int64_t lanes);
};

} // namespace effc::stored

#endif // EFFC_CODEGEN_STORAGE_CODEPLACES_H
