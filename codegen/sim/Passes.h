// Passes that turn GPU code into code of the simulator.
#ifndef EFFC_CODEGEN_SIM_PASSES_H
#define EFFC_CODEGEN_SIM_PASSES_H

#include "mlir/Pass/Pass.h"

namespace effc::sim {

#define GEN_PASS_DECL
#include "codegen/sim/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "codegen/sim/Passes.h.inc"

} // namespace effc::sim

#endif // EFFC_CODEGEN_SIM_PASSES_H
