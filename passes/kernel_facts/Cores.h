// How many items the cores of a machine take.
#ifndef EFFC_PASSES_KERNELFACTS_CORES_H
#define EFFC_PASSES_KERNELFACTS_CORES_H

#include "dialects/tile/Tile.h"

namespace effc {

/// Whether a target is a GPU; a module without one is the host's.
bool isGpu(tile::TargetAttr target);

/// The cores that items are dealt to: those of a GPU, or of a usual host, since the
/// machine is not known when a model is compiled.
int64_t coresOf(tile::TargetAttr target);

/// Items of equal length that leave no core idle: one for each core of a host; two
/// for each of a GPU, of which one computes while the other waits.
int64_t itemsThatFill(tile::TargetAttr target);

/// Blocks of so many threads, each with so many registers, that a core of a GPU has
/// at once; at least 1.
int64_t residentBlocks(tile::TargetAttr target, int64_t threads,
                       int64_t registers);

/// Elements of f32 that stay close to a core of a host, in its first cache: a
/// quarter of the target's `state_bytes`. A module without a target is taken for a
/// host of the compiler's table.
int64_t closeElements(tile::TargetAttr target);

/// Elements of a row of scores that a host looks at together: a quarter of the above.
int64_t hostScores(tile::TargetAttr target);

} // namespace effc

#endif // EFFC_PASSES_KERNELFACTS_CORES_H
