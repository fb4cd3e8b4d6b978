// The product units that the tree has, and which a product or a target has.
#ifndef EFFC_DIALECTS_TILE_UNITS_UNITS_H
#define EFFC_DIALECTS_TILE_UNITS_UNITS_H

#include "dialects/tile/Tile.h"

namespace effc::tile {

/// Makes the attribute of a unit, so that a unit can stand in a table of
/// constants.
using UnitGetter = ProductUnit (*)(mlir::MLIRContext *context);

ProductUnit getMmaSync(mlir::MLIRContext *context);
ProductUnit getWgmma(mlir::MLIRContext *context);

/// The unit that forms a product at scheduled level: the one that it names, else
/// `#tile.mma_sync`.
ProductUnit productUnitOf(DotOp dot);
/// Has a product name its unit, as productUnitOf() reads it.
void setProductUnit(DotOp dot, ProductUnit unit);

/// Whether a unit that runs beside the threads may read a tile in shared memory, or what
/// comes to a ring there: the kernel has a product by a unit whose own rows these are.
/// Which product reads a tile does not count, since tiles are handed on, by pipelines and
/// loops, and a fence too few is a race. Of other rows threads load what a unit reads.
bool mayBeReadBesideThreads(mlir::Value tile);

/// A target's units, the preferred one first; `#tile.mma_sync` where there is
/// no target, or it lists none. Where bits are to be stable, those that are.
llvm::SmallVector<ProductUnit> usableUnits(TargetAttr target,
                                           mlir::MLIRContext *context);

} // namespace effc::tile

#endif // EFFC_DIALECTS_TILE_UNITS_UNITS_H
