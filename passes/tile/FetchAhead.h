// Loops whose loads run ahead of their arithmetic.
#ifndef EFFC_PASSES_TILE_FETCHAHEAD_H
#define EFFC_PASSES_TILE_FETCHAHEAD_H

#include "dialects/tile/Tile.h"

namespace effc {

/// Turns each pipeline of several stages, whose loaded tiles lie in shared
/// memory and are read by products alone, into a loop that fetches so many
/// iterations ahead into a ring. Others stay: each iteration loads, then
/// computes.
void fetchAhead(tile::KernelOp kernel);

} // namespace effc

#endif // EFFC_PASSES_TILE_FETCHAHEAD_H
