// HGRN, in the layout of flash-linear-attention.
#ifndef EFFC_FRONTEND_FAMILIES_FLASHHGRN_H
#define EFFC_FRONTEND_FAMILIES_FLASHHGRN_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importFlashHgrn(FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_FLASHHGRN_H
