// How the kernel of a window is cut into blocks of queries and of keys.
#ifndef EFFC_PASSES_SEQ_TO_TILE_BUILDERS_WINDOW_WINDOWBLOCKS_H
#define EFFC_PASSES_SEQ_TO_TILE_BUILDERS_WINDOW_WINDOWBLOCKS_H

#include "passes/seq_to_tile/KernelBuilder.h"

namespace effc {

/// The blocks of a window's kernel, for `KernelSizes`; in decode those of keys
/// alone.
WindowBlocks windowBlocksOf(seq::MixerOpInterface mixer,
                            const CallContext &call);

/// Heads that share a key, a value, a number and a choice of blocks: the rows of a
/// block in decode.
int64_t sharedHeadsOf(seq::MixerOpInterface mixer);

} // namespace effc

#endif // EFFC_PASSES_SEQ_TO_TILE_BUILDERS_WINDOW_WINDOWBLOCKS_H
