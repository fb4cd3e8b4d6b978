// Where each tile of a kernel lies on a GPU: in which threads' registers, or in
// shared memory.
#ifndef EFFC_PASSES_TILE_LAYOUTS_H
#define EFFC_PASSES_TILE_LAYOUTS_H

#include "dialects/tile/Tile.h"

namespace effc {

/// Gives every tile of a kernel a layout, starting from the products, and makes
/// each change of layout a `tile.convert`. Places in shared memory are still
/// open: they have no offset. `warpGroups` says that four warps may multiply
/// together: operands that they can read from shared memory lie swizzled.
void assignLayouts(tile::KernelOp kernel, int64_t threads, bool warpGroups);

} // namespace effc

#endif // EFFC_PASSES_TILE_LAYOUTS_H
