// Mamba and Falcon Mamba, in the layouts of the public library.
#ifndef EFFC_FRONTEND_FAMILIES_MAMBA_H
#define EFFC_FRONTEND_FAMILIES_MAMBA_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importMamba(FamilyInput &input);
/// The same with norms of time step, keys and queries.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importFalconMamba(FamilyInput &input);

/// The original authors' layout, whose `ssm_cfg` names Mamba-1 or nothing.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importMambaSsm1(FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_MAMBA_H
