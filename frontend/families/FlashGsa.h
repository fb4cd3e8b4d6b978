// Gated slot attention, in the layout of flash-linear-attention.
#ifndef EFFC_FRONTEND_FAMILIES_FLASHGSA_H
#define EFFC_FRONTEND_FAMILIES_FLASHGSA_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importFlashGsa(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_FLASHGSA_H
