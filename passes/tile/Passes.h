// Passes on tile kernels.
#ifndef EFFC_PASSES_TILE_PASSES_H
#define EFFC_PASSES_TILE_PASSES_H

#include "dialects/tile/Tile.h"
#include "mlir/Pass/Pass.h"

namespace effc {

#define GEN_PASS_DECL
#include "passes/tile/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/tile/Passes.h.inc"

} // namespace effc

#endif // EFFC_PASSES_TILE_PASSES_H
