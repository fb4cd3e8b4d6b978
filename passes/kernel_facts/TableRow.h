// A token's row of a table, which a kernel reads in the table.
#ifndef EFFC_PASSES_KERNELFACTS_TABLEROW_H
#define EFFC_PASSES_KERNELFACTS_TABLEROW_H

#include "dialects/seq/SeqOps.h"

namespace effc {

/// Numbers [T, N] from `column` on of the rows of a table that the call names
/// for its tokens.
struct TableRow {
  seq::EmbeddingOp row; ///< null: the tensor is something else
  int64_t column = 0;

  /// What slices of a row's numbers read.
  static TableRow of(mlir::Value tensor) {
    TableRow found;
    while (auto slice = tensor.getDefiningOp<seq::SliceOp>()) {
      if (slice.getAxis() != 1)
        return {};
      found.column += slice.getOffset();
      tensor = slice.getX();
    }
    found.row = tensor.getDefiningOp<seq::EmbeddingOp>();
    if (found.row && !llvm::isa<mlir::BlockArgument>(found.row.getTokens()))
      return {};
    return found;
  }
};

} // namespace effc

#endif // EFFC_PASSES_KERNELFACTS_TABLEROW_H
