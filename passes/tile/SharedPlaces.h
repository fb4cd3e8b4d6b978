// Places in shared memory, and the barriers that their use needs.
#ifndef EFFC_PASSES_TILE_SHAREDPLACES_H
#define EFFC_PASSES_TILE_SHAREDPLACES_H

#include "dialects/tile/Tile.h"

namespace effc {

/// Gives every tile in shared memory, and every exchange, its bytes; those that
/// are not in use at the same time may share them. Returns how many are used.
int64_t placeShared(tile::KernelOp kernel);

/// Bytes of shared memory through which the warps of an exchange meet: of a
/// `tile.reduce`, `tile.segment_decay` or `tile.top_k`.
int64_t exchangeBytes(mlir::Operation *op);

/// Inserts a `tile.barrier` before each op that reads what other threads may
/// have written since the last one, or writes what they may still read: places
/// in shared memory, and views that the kernel writes.
void insertBarriers(tile::KernelOp kernel);

} // namespace effc

#endif // EFFC_PASSES_TILE_SHAREDPLACES_H
