// Passes that lower tile kernels to host code.
#ifndef EFFC_CODEGEN_HOST_PASSES_H
#define EFFC_CODEGEN_HOST_PASSES_H

#include "mlir/Pass/Pass.h"

namespace effc::host {

#define GEN_PASS_DECL
#include "codegen/host/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "codegen/host/Passes.h.inc"

} // namespace effc::host

#endif // EFFC_CODEGEN_HOST_PASSES_H
