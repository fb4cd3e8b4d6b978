// Passes that lower scheduled tile kernels to PTX.
#ifndef EFFC_CODEGEN_NVPTX_PASSES_H
#define EFFC_CODEGEN_NVPTX_PASSES_H

#include "mlir/Pass/Pass.h"

namespace effc::nvptx {

#define GEN_PASS_DECL
#include "codegen/nvptx/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "codegen/nvptx/Passes.h.inc"

} // namespace effc::nvptx

#endif // EFFC_CODEGEN_NVPTX_PASSES_H
