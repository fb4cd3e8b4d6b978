// Products of integers on the host: which ops multiply rows by a matrix in panels.
#ifndef EFFC_PASSES_KERNELFACTS_PANELPRODUCTS_H
#define EFFC_PASSES_KERNELFACTS_PANELPRODUCTS_H

#include "mlir/IR/Operation.h"

#include <optional>

namespace effc {

/// The operands of an op whose kernel multiplies rows by panels, where it can.
struct PanelProduct {
  mlir::Value rows;   ///< which are rounded to digits
  mlir::Value matrix; ///< if it lies in panels

  /// Absent where an item of the op's kernel has no whole panels: for other ops, and
  /// for experts that begin inside a panel or have a part of one.
  static std::optional<PanelProduct> of(mlir::Operation *op);
  /// How many rows of the matrix an item of the op takes, where it multiplies by
  /// runs of them that are no whole panels.
  static std::optional<int64_t> partOfPanels(mlir::Operation *op);
};

} // namespace effc

#endif // EFFC_PASSES_KERNELFACTS_PANELPRODUCTS_H
