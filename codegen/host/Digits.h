// Rows of f32 as digits (dialects/storage/Digits.h).
#ifndef EFFC_CODEGEN_HOST_DIGITS_H
#define EFFC_CODEGEN_HOST_DIGITS_H

#include "codegen/host/Place.h"
#include "dialects/storage/Digits.h"

namespace effc::host {

/// Writes the block of 32 numbers, given as vectors one after another, at `address`.
void storeDigits(mlir::OpBuilder &b, mlir::Location loc, Memory &memory,
                 storage::DigitsLayout layout, mlir::Value address,
                 llvm::ArrayRef<mlir::Value> numbers);

} // namespace effc::host

#endif // EFFC_CODEGEN_HOST_DIGITS_H
