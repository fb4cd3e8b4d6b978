// How far the schedule of a kernel is, and which pass takes it further.
#ifndef EFFC_PASSES_TILE_PROGRESS_H
#define EFFC_PASSES_TILE_PROGRESS_H

#include "dialects/tile/Tile.h"

namespace effc {

/// Whether a pass named `pass` has work on a kernel: where exactly what stands
/// before `decides` is decided. Where more is, the pass has run before; where
/// less is, that is an error on the kernel, which names the pass to run first.
mlir::FailureOr<bool> isDue(tile::KernelOp kernel, llvm::StringRef pass,
                            tile::Decided decides);

} // namespace effc

#endif // EFFC_PASSES_TILE_PROGRESS_H
