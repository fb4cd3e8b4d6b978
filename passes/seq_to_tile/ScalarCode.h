// The elementwise ops of seq as scalar code, for the regions of tile.map.
#ifndef EFFC_PASSES_SEQTOTILE_SCALARCODE_H
#define EFFC_PASSES_SEQTOTILE_SCALARCODE_H

#include "mlir/IR/Builders.h"

namespace effc {

/// Emits the elementwise op `op` on one f32 element of each operand.
mlir::Value emitScalarCode(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Operation *op, mlir::ValueRange elements);

/// x / (1 + exp(-x)).
mlir::Value emitSilu(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value x);

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_SCALARCODE_H
