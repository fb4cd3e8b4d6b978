// Where each tile of a kernel lies on a GPU: in which threads' registers, or in
// shared memory.
#ifndef EFFC_PASSES_TILE_LAYOUTS_H
#define EFFC_PASSES_TILE_LAYOUTS_H

#include "dialects/tile/Tile.h"

namespace effc {

/// Gives every tile of a kernel a layout, starting from the products, and makes
/// each change of layout a `tile.convert`. Places in shared memory are still
/// open: they have no offset. Each product names the unit that forms it. `units`
/// are those that may multiply, the preferred one first. Operands lie in the rows of a
/// unit's own where it has any and all that read them there take them so.
///
/// A product that none of the units can form is an error on it, and the kernel stays
/// as it was.
mlir::LogicalResult assignLayouts(tile::KernelOp kernel, int64_t threads,
                                  llvm::ArrayRef<tile::ProductUnit> units);

} // namespace effc

#endif // EFFC_PASSES_TILE_LAYOUTS_H
