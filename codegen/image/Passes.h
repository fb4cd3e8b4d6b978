// From LLVM IR to images of machine code.
#ifndef EFFC_CODEGEN_IMAGE_PASSES_H
#define EFFC_CODEGEN_IMAGE_PASSES_H

#include "mlir/Pass/Pass.h"

namespace effc::image {

#define GEN_PASS_DECL
#include "codegen/image/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "codegen/image/Passes.h.inc"

} // namespace effc::image

#endif // EFFC_CODEGEN_IMAGE_PASSES_H
