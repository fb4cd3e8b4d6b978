// Passes on the plan dialect.
#ifndef EFFC_PASSES_PLAN_PASSES_H
#define EFFC_PASSES_PLAN_PASSES_H

#include "dialects/plan/Plan.h"
#include "mlir/Pass/Pass.h"

namespace effc {

#define GEN_PASS_DECL
#include "passes/plan/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/plan/Passes.h.inc"

} // namespace effc

#endif // EFFC_PASSES_PLAN_PASSES_H
