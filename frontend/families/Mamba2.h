// Mamba-2, in the layout of the public library (`Mamba2ForCausalLM`) and in
// that of the original authors' package (`mamba_ssm`).
#ifndef EFFC_FRONTEND_FAMILIES_MAMBA2_H
#define EFFC_FRONTEND_FAMILIES_MAMBA2_H

#include "frontend/families/Family.h"

namespace effc::frontend {

/// Build the module of a Mamba-2 checkpoint in either layout. What of the
/// configuration matters, and where the public implementation is not followed:
/// frontend/families/mamba.md.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importMamba2(FamilyInput &input);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importMambaSsm(FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_MAMBA2_H
