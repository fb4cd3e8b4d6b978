// A product as its units judge it: sizes, types and how B comes.
#ifndef EFFC_DIALECTS_TILE_UNITS_DOTSHAPE_H
#define EFFC_DIALECTS_TILE_UNITS_DOTSHAPE_H

#include "mlir/IR/Types.h"

namespace effc::tile {

/// The two operands that are multiplied.
enum class DotOperand { A, B };

/// `rows` x `depth` times `depth` x `columns`, added to `rows` x `columns`.
struct DotShape {
  int64_t rows, columns, depth;
  /// Whether B is given as `columns` x `depth`.
  bool transposeB;
  /// The type of B's elements where the product reads them.
  mlir::Type b;
  /// What operands are rounded to; null: they are multiplied exactly.
  mlir::Type roundedTo;
  /// Whether a pipeline copies B, past registers.
  bool copiesB;
};

/// Rows and columns of a result that one work item forms.
struct DotTile {
  int64_t rows, columns;
  /// Of a core for each step of the contraction, while all others have such a tile.
  int64_t stepCycles;
};

/// How rows lie in shared memory: how many elements apart, and whether they are
/// swizzled (`#tile.shared`).
struct SharedRows {
  int64_t stride;
  bool swizzled;
};

} // namespace effc::tile

#endif // EFFC_DIALECTS_TILE_UNITS_DOTSHAPE_H
