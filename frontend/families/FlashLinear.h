// Gated linear attention, retention and HGRN2, in the layouts of
// flash-linear-attention.
#ifndef EFFC_FRONTEND_FAMILIES_FLASHLINEAR_H
#define EFFC_FRONTEND_FAMILIES_FLASHLINEAR_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importFlashGla(FamilyInput &input);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importFlashRetNet(FamilyInput &input);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importFlashHgrn2(FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_FLASHLINEAR_H
