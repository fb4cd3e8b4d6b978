// How the kernel of a window is cut into blocks of queries and of keys.
#ifndef EFFC_PASSES_SEQ_TO_TILE_BUILDERS_WINDOW_WINDOWBLOCKS_H
#define EFFC_PASSES_SEQ_TO_TILE_BUILDERS_WINDOW_WINDOWBLOCKS_H

#include "passes/seq_to_tile/KernelBuilder.h"

namespace effc {

struct WindowBlocks {
  int64_t queries = 0; ///< of a head in prefill: rows of a block
  int64_t items = 0;   ///< that share the blocks of a head and segment there
  int64_t keys = 0;
};

/// All that the kernel takes from the number of an entry's rows.
WindowBlocks windowBlocksOf(seq::MixerOpInterface mixer,
                            const KernelContext &context);

} // namespace effc

#endif // EFFC_PASSES_SEQ_TO_TILE_BUILDERS_WINDOW_WINDOWBLOCKS_H
