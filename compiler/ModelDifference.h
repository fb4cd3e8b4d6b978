// Whether two models are the same but for the numbers of their weights.
#ifndef EFFC_COMPILER_MODELDIFFERENCE_H
#define EFFC_COMPILER_MODELDIFFERENCE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace effc {

/// Compares the seq module that a file holds with `found`, of which `bytecode` is
/// what a file would hold. Where they differ by more than their locations, the
/// error says by which line; `name` is what the found model is called.
llvm::Error checkSameModel(llvm::ArrayRef<uint8_t> stored,
                           llvm::StringRef bytecode, mlir::ModuleOp found,
                           llvm::StringRef name);

} // namespace effc

#endif // EFFC_COMPILER_MODELDIFFERENCE_H
