// Kimi Linear: Kimi delta attention, every so many layers latent attention
// without positions, and experts that a balanced router chooses.
// Source: Kimi Team, arXiv:2510.26692; modeling_kimi.py of its checkpoints.
#ifndef EFFC_FRONTEND_FAMILIES_KIMILINEAR_H
#define EFFC_FRONTEND_FAMILIES_KIMILINEAR_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importKimiLinear(FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_KIMILINEAR_H
