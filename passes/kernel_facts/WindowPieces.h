// Into what pieces the keys of a window are cut where a step of decode attends to them
// on a GPU.
//
// A step has a block of threads for each group of heads of a sequence, and few models
// have as many groups as a GPU has cores. So pieces of the keys have blocks of their
// own, and what they give is merged. A piece is a number of positions that depends on
// the window and the chip alone: a token's bits may not tell who shares its call.
#ifndef EFFC_PASSES_KERNELFACTS_WINDOWPIECES_H
#define EFFC_PASSES_KERNELFACTS_WINDOWPIECES_H

#include "dialects/tile/Tile.h"

namespace effc {

/// Positions of a piece of a window of at most so many keys, for which so many groups
/// of heads of a sequence ask: a power of two; 0: the keys stay together.
int64_t windowPieceOf(tile::TargetAttr gpu, int64_t keys, int64_t groups);

/// Items of pieces that keep a GPU's memory busy.
int64_t windowItemsThatFill(tile::TargetAttr gpu);

} // namespace effc

#endif // EFFC_PASSES_KERNELFACTS_WINDOWPIECES_H
