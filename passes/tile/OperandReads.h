// From where the ops of a kernel read their operands, and as what.
#ifndef EFFC_PASSES_TILE_OPERANDREADS_H
#define EFFC_PASSES_TILE_OPERANDREADS_H

#include "dialects/tile/Tile.h"

namespace effc {

/// Whether an op reads this operand from shared memory.
bool readsShared(mlir::OpOperand &use);

/// What an op rounds this operand to when it reads it from shared memory, where
/// that takes less of it than f32; null elsewhere.
mlir::Type roundedBy(mlir::OpOperand &use);
/// What all that read a tile round it to; null where that is not one type.
mlir::Type roundedByAll(mlir::Value tile);

/// Whether a tile is sums of products, element by element.
bool isMadeOfSums(mlir::Value tile);
/// Whether A may stay where sums of another product lie. Of exact products the
/// parts of all that a thread holds would be in registers beside it.
bool keepsHeldRows(tile::DotOp dot);
/// Whether products alone read a computed tile, whose elements are a bf16 each: a mask.
bool isMaskOfProducts(mlir::Value tile);
/// Whether a product may read this operand from the registers of sums.
bool readsHeldSums(mlir::OpOperand &use);

} // namespace effc

#endif // EFFC_PASSES_TILE_OPERANDREADS_H
