// Code that turns rows of digits (!storage.digits) into f32.
#ifndef EFFC_CODEGEN_STORAGE_UNPACKDIGITS_H
#define EFFC_CODEGEN_STORAGE_UNPACKDIGITS_H

#include "codegen/storage/StoredElements.h"

namespace effc::stored {

/// `lanes` neighbours of a row from `place` on, all in one block, as f32: a vector for
/// more than one.
mlir::Value unpackDigits(mlir::OpBuilder &b, mlir::Location loc,
                         const ElementPlace &place, storage::DigitsType type,
                         int64_t lanes);

} // namespace effc::stored

#endif // EFFC_CODEGEN_STORAGE_UNPACKDIGITS_H
