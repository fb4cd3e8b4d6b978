// What a launch of a GPU is worth: up to which sizes work is done again, or memory is
// passed over once more, rather than that a call has a launch more.
//
// Each is the launch's cycles times what a chip does in a cycle: what its memory moves
// (`bandwidth`), and what its cores read again from the second cache. That cache's rate
// was predicted for an H100 (tools/sass_model) and is taken to grow with the cores.
#ifndef EFFC_PASSES_KERNELFACTS_LAUNCHCOST_H
#define EFFC_PASSES_KERNELFACTS_LAUNCHCOST_H

#include "dialects/tile/Tile.h"

namespace effc {

/// The most terms of all products that read a norm for which each of them takes
/// the norm in. Every item reads the row and its weights again, and the gate of a
/// gated norm, so that beyond these a launch of the norm alone costs less.
/// Predicted for an H100: a step of a model whose norms feed 2.6 and 1.2 million terms
/// takes 0.31 ms with its norms taken in and 0.35 without; of one with 17 and 8.4
/// million, 2.15 and 1.54.
int64_t mostNormedTerms(tile::TargetAttr gpu, bool isGated);

/// Rows of a call from which a product is split into what is stored in 16 bits and the
/// rest: what memory moves less for such rows takes as long as a launch.
int64_t fewestSplitRows(tile::TargetAttr gpu);

} // namespace effc

#endif // EFFC_PASSES_KERNELFACTS_LAUNCHCOST_H
