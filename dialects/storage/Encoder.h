// From numbers to what a storage holds.
#ifndef EFFC_DIALECTS_STORAGE_ENCODER_H
#define EFFC_DIALECTS_STORAGE_ENCODER_H

#include "dialects/storage/Storage.h"
#include "dialects/storage/rounding/Rounding.h"

namespace effc::storage {

/// Writes numbers as a storage holds them. Made once for many rows: finding the
/// rule of a storage takes longer than a short row.
class Encoder {
public:
  /// Absent where there is no rule for the storage: integers, and blocks that are
  /// only described and are more than codes around 0 with one scale.
  static std::optional<Encoder> of(Storage storage);

  /// Writes whole blocks; absent on success, else the index of the first number
  /// of what the storage has no finite bytes for. bf16 and f16 round to nearest
  /// even, NaN and infinities stay there. Blocks of Formats.cpp are rounded as the
  /// public library does, to the bit (rounding/Rounding.h), others by their largest
  /// number (BlockNumbers.h); both refuse what is not finite.
  std::optional<uint64_t> encode(llvm::ArrayRef<float> numbers,
                                 llvm::MutableArrayRef<uint8_t> bytes) const {
    return encodeRow(numbers, {}, bytes);
  }
  /// The same of one row, of which `importance` says how much each column counts,
  /// finite and at least 0; empty: nobody knows. Storages that do not heed it
  /// (heedsImportance()) get the same bytes without.
  std::optional<uint64_t> encodeRow(llvm::ArrayRef<float> row,
                                    llvm::ArrayRef<float> importance,
                                    llvm::MutableArrayRef<uint8_t> bytes) const;

private:
  Encoder(Storage storage, Rounding rounding)
      : storage(storage), rounding(rounding) {}

  Storage storage;
  Rounding rounding; // null: none of its own
};

} // namespace effc::storage

#endif // EFFC_DIALECTS_STORAGE_ENCODER_H
