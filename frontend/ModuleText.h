// A model written as IR text.
#ifndef EFFC_FRONTEND_MODULETEXT_H
#define EFFC_FRONTEND_MODULETEXT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"

namespace effc::frontend {

/// Ops of a model, at most: some ten times those of the largest that are
/// public.
constexpr size_t kMostOps = size_t(1) << 16;

/// Weights of a model, at most: some five times those of the largest that are
/// public, which have 61 layers of 256 experts of three matrices.
constexpr size_t kMostWeights = size_t(1) << 18;

/// Reads and verifies the module in the file `path`, which holds weights and
/// one function, `@forward`, of one block of ops of the seq dialect. Fails with
/// one line: of what MLIR says, the first error with its notes. Whoever makes
/// the context leaves whole ops out of them (`printOpOnDiagnostic(false)`).
/// Bytecode is refused.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
readModuleText(mlir::MLIRContext &context, llvm::StringRef path);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODULETEXT_H
