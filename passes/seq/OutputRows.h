// Which values of a model have a row per token, and which one per output row.
#ifndef EFFC_PASSES_SEQ_OUTPUTROWS_H
#define EFFC_PASSES_SEQ_OUTPUTROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace effc {

/// Who calls says whose logits it wants and makes room for these alone, but
/// both counts are `?` in the types. Fails, with an error, unless `forward`
/// takes the numbers of the output rows, no op brings the two counts together,
/// none that carries a state lacks tokens, and the logits have a row per output
/// row.
mlir::LogicalResult checkOutputRows(mlir::func::FuncOp forward);

} // namespace effc

#endif // EFFC_PASSES_SEQ_OUTPUTROWS_H
