// The elementwise ops of seq as scalar code, for the regions of tile.map.
#ifndef EFFC_PASSES_SEQTOTILE_SCALARCODE_H
#define EFFC_PASSES_SEQTOTILE_SCALARCODE_H

#include "dialects/seq/SeqAttributes.h"
#include "mlir/IR/Builders.h"

namespace effc {

/// Emits the elementwise op `op` on one f32 element of each operand.
mlir::Value emitScalarCode(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Operation *op, mlir::ValueRange elements);

/// x rounded to the nearest `stored`, f32, bf16 or f16, ties to even; a NaN stays one.
/// Ends the program for another type.
mlir::Value emitRounded(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value x, mlir::Type stored);

/// x / (1 + exp(-x)).
mlir::Value emitSilu(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value x);

/// The nonlinearity `kind` of x.
mlir::Value emitNonlinearity(mlir::OpBuilder &builder, mlir::Location loc,
                             seq::Nonlinearity kind, mlir::Value x);

/// 1 / (1 + exp(-x)).
mlir::Value emitSigmoid(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value x);

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_SCALARCODE_H
