// `effc compile --hidden`: a model that gives what its head would have multiplied.
#ifndef EFFC_COMPILER_HIDDENROWS_H
#define EFFC_COMPILER_HIDDENROWS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace effc {

/// Makes @forward of `module` return, in place of its logits, the rows that its head
/// multiplies, and takes out what nobody needs any more. Fails where the logits are
/// no product of rows with a matrix, followed by elementwise ops.
llvm::Error giveHiddenRows(mlir::ModuleOp module);

} // namespace effc

#endif // EFFC_COMPILER_HIDDENROWS_H
