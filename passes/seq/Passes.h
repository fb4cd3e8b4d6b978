// Passes on the seq dialect.
#ifndef EFFC_PASSES_SEQ_PASSES_H
#define EFFC_PASSES_SEQ_PASSES_H

#include "mlir/Pass/Pass.h"

namespace effc {

#define GEN_PASS_DECL
#include "passes/seq/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/seq/Passes.h.inc"

} // namespace effc

#endif // EFFC_PASSES_SEQ_PASSES_H
