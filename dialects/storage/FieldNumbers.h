// The bits that a block has for an element's field, and the number they stand for.
#ifndef EFFC_DIALECTS_STORAGE_FIELDNUMBERS_H
#define EFFC_DIALECTS_STORAGE_FIELDNUMBERS_H

#include "dialects/storage/StorageDialect.h"

namespace effc::storage {

/// The bits of all pieces, the first lowest. `digits` are the block's.
uint64_t fieldBits(FieldAttr field, llvm::ArrayRef<int64_t> digits,
                   llvm::ArrayRef<uint8_t> block, int64_t element);

/// Exact. NaN for an exponent of 255 and for bits that are one.
double fieldValue(FieldAttr field, uint64_t bits);

} // namespace effc::storage

#endif // EFFC_DIALECTS_STORAGE_FIELDNUMBERS_H
