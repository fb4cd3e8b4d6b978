// How numbers are rounded to the blocks that have a name: the rules of the public
// library, to the bit. See README.md.
#ifndef EFFC_DIALECTS_STORAGE_ROUNDING_ROUNDING_H
#define EFFC_DIALECTS_STORAGE_ROUNDING_ROUNDING_H

#include "dialects/storage/StorageDialect.h"

namespace effc::storage {

/// What a rule chooses for one block, as the bits of the fields. A rule does not
/// know where they lie.
struct RoundedBlock {
  /// Of each element.
  llvm::SmallVector<uint32_t, 256> codes;
  /// Of the first factor of the scale, and of what is added or taken away.
  uint32_t scale = 0, offset = 0;
  /// Of the second factors: one for each group of neighbours, all as long; empty
  /// where there is no second factor.
  llvm::SmallVector<uint32_t, 16> groupScales, groupOffsets;
};

/// How much the numbers of a block count, where that is known of their columns.
struct Importance {
  /// Of each number, at least 0 and finite; empty: rules weigh by the numbers alone.
  llvm::ArrayRef<float> columns;
  /// The mean square of the row that the block lies in.
  float rowSquare = 0;
};

/// Rounds as many numbers as `type` has elements, all finite. A result that no
/// field has finite bits for is an infinity there. `block` is as made.
using Rounding = void (*)(BlockType type, llvm::ArrayRef<float> numbers,
                          const Importance &importance, RoundedBlock &block);

/// The rule of a storage of Formats.cpp; null for any other type, also for one
/// that has only the name of such a storage.
Rounding roundingOf(BlockType type);

/// Whether that rule heeds importance.
bool heedsImportance(BlockType type);

} // namespace effc::storage

#endif // EFFC_DIALECTS_STORAGE_ROUNDING_ROUNDING_H
