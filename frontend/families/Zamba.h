// Zamba (`zamba`): mixers of Mamba in heads, and a transformer block that
// several layers share.
#ifndef EFFC_FRONTEND_FAMILIES_ZAMBA_H
#define EFFC_FRONTEND_FAMILIES_ZAMBA_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importZamba(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_ZAMBA_H
