// The table of product units, and which unit a product, a layout or a target
// has.
#ifndef EFFC_DIALECTS_TILE_UNITS_UNITS_H
#define EFFC_DIALECTS_TILE_UNITS_UNITS_H

#include "dialects/tile/Tile.h"

namespace effc::tile {

/// Makes the attribute of a unit, so that a unit can stand in a table of
/// constants.
using UnitGetter = ProductUnit (*)(mlir::MLIRContext *context);

ProductUnit getMmaSync(mlir::MLIRContext *context);
ProductUnit getWgmma(mlir::MLIRContext *context);

/// Every unit there is. At most one has rows of its own of a kind.
llvm::ArrayRef<UnitGetter> allUnits();

/// The unit that forms a product at scheduled level, which B's layout tells.
ProductUnit productUnitOf(DotOp dot);

/// Whether units that run beside the threads read what lies so.
bool isReadBesideThreads(SharedAttr layout);

/// A target's units, the preferred one first; `#tile.mma_sync` where there is
/// no target, or it lists none. Where bits are to be stable, those that are.
llvm::SmallVector<ProductUnit> usableUnits(TargetAttr target,
                                           mlir::MLIRContext *context);

} // namespace effc::tile

#endif // EFFC_DIALECTS_TILE_UNITS_UNITS_H
