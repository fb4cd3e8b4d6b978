// Mamba-2 in the Hugging Face layout, `Mamba2ForCausalLM`.
#ifndef EFFC_FRONTEND_FAMILIES_MAMBA2_H
#define EFFC_FRONTEND_FAMILIES_MAMBA2_H

#include "frontend/families/Family.h"

namespace effc::frontend {

/// Builds the module of a Mamba-2 checkpoint. What of the configuration
/// matters, and where the public implementation is not followed:
/// frontend/README.md.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importMamba2(FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_MAMBA2_H
