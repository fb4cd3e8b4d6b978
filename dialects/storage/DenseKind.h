// The kinds of numbers that have bytes of their own, and what differs between them.
//
// Whoever treats kinds apart switches over them and has no default: the compiler's
// warning then names every place that a new kind must visit.
#ifndef EFFC_DIALECTS_STORAGE_DENSEKIND_H
#define EFFC_DIALECTS_STORAGE_DENSEKIND_H

#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace effc::storage {

enum class DenseKind { F32, BF16, F16, I32, I64 };

/// The kind of an element type; absent for blocks, panels and digits, and for types
/// that no storage has.
std::optional<DenseKind> denseKindOf(mlir::Type element);
/// The same where a verifier has seen to it; ends the program for another type.
DenseKind getDenseKind(mlir::Type element);
/// The kind that files and messages call `name`: "bf16".
std::optional<DenseKind> denseKindNamed(llvm::StringRef name);

llvm::StringRef nameOf(DenseKind kind);
/// Bytes of one number.
int64_t bytesOf(DenseKind kind);
/// The largest finite number of a floating-point kind.
double largestOf(DenseKind kind);

} // namespace effc::storage

#endif // EFFC_DIALECTS_STORAGE_DENSEKIND_H
