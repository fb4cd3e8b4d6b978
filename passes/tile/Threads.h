// How many threads run a kernel on a GPU.
#ifndef EFFC_PASSES_TILE_THREADS_H
#define EFFC_PASSES_TILE_THREADS_H

#include "dialects/tile/Tile.h"

namespace effc {

/// Threads for a kernel: enough that the largest tile leaves each thread at
/// most 32 elements of a block, 8 of a row or column, but no more than `most`;
/// fewer where rows then go from product to product in registers.
int64_t chooseThreads(tile::KernelOp kernel, int64_t most);

} // namespace effc

#endif // EFFC_PASSES_TILE_THREADS_H
