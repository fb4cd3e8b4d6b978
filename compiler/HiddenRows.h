// Models that give other rows than logits: `effc compile --hidden` and `--tap`.
#ifndef EFFC_COMPILER_HIDDENROWS_H
#define EFFC_COMPILER_HIDDENROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace effc {

/// The function @forward of an imported module. Fails where it gives no logits.
llvm::Expected<mlir::func::FuncOp> findForward(mlir::ModuleOp module);

/// Makes `rows`, a value [rows of the output, columns] of `forward`, what its module
/// gives in place of logits. Ops and weights that only logits needed are gone.
void giveRows(mlir::func::FuncOp forward, mlir::Value rows);

/// Takes the head off the model in `module`, as imported: its @forward gives the rows
/// that the head multiplies. Fails where the logits are no product of rows with a
/// matrix, followed by elementwise ops.
llvm::Error giveHiddenRows(mlir::ModuleOp module);

} // namespace effc

#endif // EFFC_COMPILER_HIDDENROWS_H
