// Ops through which the warps of a block meet in shared memory.
#ifndef EFFC_PASSES_TILE_EXCHANGES_H
#define EFFC_PASSES_TILE_EXCHANGES_H

#include "dialects/tile/Tile.h"

namespace effc {

/// Bytes of shared memory through which the warps of an exchange meet: of a
/// `tile.reduce`, `tile.segment_decay` or `tile.top_k` of tiles with layouts.
int64_t exchangeBytes(mlir::Operation *op);

} // namespace effc

#endif // EFFC_PASSES_TILE_EXCHANGES_H
