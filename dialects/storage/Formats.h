// Block storages that have a name: one row each.
#ifndef EFFC_DIALECTS_STORAGE_FORMATS_H
#define EFFC_DIALECTS_STORAGE_FORMATS_H

#include "dialects/storage/StorageDialect.h"

namespace effc::storage {

/// The storage that files call `name` ("f32", "q8_0"), one of GroupedCodes.h, or the
/// one that a text describes (`!storage.block<...>`); null where there is none, which
/// the context then says of a description.
mlir::Type formatOf(llvm::StringRef name, mlir::MLIRContext *context);
/// The names of the table, dense ones first.
llvm::ArrayRef<llvm::StringLiteral> formatNames();

} // namespace effc::storage

#endif // EFFC_DIALECTS_STORAGE_FORMATS_H
