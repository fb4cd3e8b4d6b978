// Passes that translate seq to tile and plan.
#ifndef EFFC_PASSES_SEQTOTILE_PASSES_H
#define EFFC_PASSES_SEQTOTILE_PASSES_H

#include "mlir/Pass/Pass.h"

namespace effc {

#define GEN_PASS_DECL
#include "passes/seq_to_tile/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/seq_to_tile/Passes.h.inc"

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_PASSES_H
