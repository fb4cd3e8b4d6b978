// A panel of a matrix times rows of digits.
#ifndef EFFC_CODEGEN_HOST_PANELDOTS_H
#define EFFC_CODEGEN_HOST_PANELDOTS_H

#include "codegen/host/Place.h"

namespace effc::host {

struct PanelOperands {
  storage::BlockType panel; ///< blocks of the rows of the matrix
  int64_t digits;           ///< of the other operand: how many
  int64_t columns;          ///< that are contracted: whole blocks
  bool fetchNext;           ///< what follows the panel is wanted next
};

/// How many rows of digits a call of multiplyPanel() should have. `op` is an operation
/// of the module.
int64_t panelRowsAtOnce(mlir::OpBuilder &b, Memory &memory,
                        mlir::Operation *op);

/// The products of 16 rows of the matrix, the panel at the address `base`, with rows
/// whose digits begin at the addresses `rows`: of each row f32 vectors of the target's
/// lanes, 16 numbers in all. `op` is an operation of the module.
llvm::SmallVector<mlir::Value>
multiplyPanel(mlir::OpBuilder &b, mlir::Location loc, Memory &memory,
              mlir::Operation *op, const PanelOperands &operands,
              mlir::Value base, llvm::ArrayRef<mlir::Value> rows);

} // namespace effc::host

#endif // EFFC_CODEGEN_HOST_PANELDOTS_H
