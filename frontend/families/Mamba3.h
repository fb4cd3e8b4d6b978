// Mamba-3, in the layout of flash-linear-attention (`Mamba3ForCausalLM`) and in
// that of the original authors' package (`mamba_ssm`).
#ifndef EFFC_FRONTEND_FAMILIES_MAMBA3_H
#define EFFC_FRONTEND_FAMILIES_MAMBA3_H

#include "frontend/families/Family.h"

namespace effc::frontend {

/// What of the configuration matters, and what it does not say:
/// frontend/families/mamba.md.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importMamba3(FamilyInput &input);

/// The original authors' layout, whose `ssm_cfg` names Mamba-3.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importMambaSsm3(FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_MAMBA3_H
