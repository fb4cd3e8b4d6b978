// Bamba (`bamba`): mixers of Mamba-2, attention in the layers that are listed.
#ifndef EFFC_FRONTEND_FAMILIES_BAMBA_H
#define EFFC_FRONTEND_FAMILIES_BAMBA_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importBamba(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_BAMBA_H
