// Native sparse attention, in the layout of flash-linear-attention.
#ifndef EFFC_FRONTEND_FAMILIES_FLASHNSA_H
#define EFFC_FRONTEND_FAMILIES_FLASHNSA_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importFlashNsa(FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_FLASHNSA_H
