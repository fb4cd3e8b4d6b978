// Products of integers on the host: which ops multiply rows by a matrix in panels.
#ifndef EFFC_PASSES_KERNELFACTS_PANELPRODUCTS_H
#define EFFC_PASSES_KERNELFACTS_PANELPRODUCTS_H

#include "mlir/IR/Operation.h"

namespace effc {

/// Whether an item of the kernel of `op` multiplies rows by whole panels of `matrix`,
/// one of its operands: a product with all of it, or with experts that begin at
/// panels and have whole ones.
bool multipliesPanels(mlir::Operation *op, mlir::Value matrix);

/// The operand whose rows such a product rounds to digits; null: `op` is none.
mlir::Value rowsOfPanelProduct(mlir::Operation *op);
/// Its matrix.
mlir::Value matrixOfPanelProduct(mlir::Operation *op);

} // namespace effc

#endif // EFFC_PASSES_KERNELFACTS_PANELPRODUCTS_H
