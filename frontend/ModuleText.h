// A model written as IR text.
#ifndef EFFC_FRONTEND_MODULETEXT_H
#define EFFC_FRONTEND_MODULETEXT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"

#include <optional>

namespace effc::frontend {

/// Ops of a model, at most: some ten times those of the largest that are
/// public.
constexpr size_t kMostOps = size_t(1) << 16;

/// Levels of brackets, of aliases for what has levels and of operators in a row
/// that a text may nest: MLIR calls itself once for each.
constexpr unsigned kMostTextLevels = 256;

/// Where a text goes beyond `most` levels: a position in it. Strings and
/// comments do not count.
std::optional<size_t> findNestedText(llvm::StringRef text, unsigned most);

/// Reads and verifies the module in the file `path`, which holds weights and
/// one function, `@forward`, of one block of ops of the seq dialect. Fails with
/// one line: of what MLIR says, the first error with its notes. Bytecode is
/// refused.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
readModuleText(mlir::MLIRContext &context, llvm::StringRef path);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODULETEXT_H
