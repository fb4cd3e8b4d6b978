// What a launch of a GPU is worth: up to which sizes work is done again, or memory is
// passed over once more, rather than that a call has a launch more.
//
// Each is the launch's cycles times what a chip does in a cycle: what its memory moves
// (`bandwidth`), and what its items read again from the second cache (`rereads`).
#ifndef EFFC_PASSES_KERNELFACTS_LAUNCHCOST_H
#define EFFC_PASSES_KERNELFACTS_LAUNCHCOST_H

#include "dialects/tile/Tile.h"

namespace effc {

/// Whether a launch more takes a target time: a GPU's record has its cycles, and the host
/// has no launches. A module without a target is the host's.
bool takesLaunches(tile::TargetAttr target);

/// The most terms of all products that read a norm for which each of them takes
/// the norm in. Every item reads the row and its weights again, and the gate of a
/// gated norm, so that beyond these a launch of the norm alone costs less.
/// Predicted for an H100: a step of a model whose norms feed 2.6 and 1.2 million terms
/// takes 0.31 ms with its norms taken in and 0.35 without; of one with 17 and 8.4
/// million, 2.15 and 1.54.
int64_t mostNormedTerms(tile::TargetAttr gpu, bool isGated);

/// Bytes that memory moves while a further launch begins: one that moves fewer is that
/// launch and little else.
int64_t bytesOfLaunch(tile::TargetAttr gpu);

/// Rows of a call from which a product is split into what is stored in 16 bits and the
/// rest: what memory moves less for such rows takes as long as a launch.
int64_t fewestSplitRows(tile::TargetAttr gpu);

/// Whether so many weights, which lie in blocks of `bytes` together, are better unpacked
/// to what the target rounds to, which is narrow, by a launch of their own than by each
/// item of a product of `rows` rows.
/// What is written and read again takes time for memory, and what each tile of rows
/// unpacks for itself takes the cores' time. Predicted for an H100: 58.7 million weights
/// of q4_0 take 5.1 ms with 4,096 rows, 0.33 with 256, and from 0.19 to 0.23 with 4, 16,
/// 32, 64 and 128 rows.
bool paysToUnpack(tile::TargetAttr gpu, int64_t rows, int64_t weights,
                  int64_t bytes);

} // namespace effc

#endif // EFFC_PASSES_KERNELFACTS_LAUNCHCOST_H
