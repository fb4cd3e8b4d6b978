// HGRN, linear attention and Samba, in the layouts of flash-linear-attention.
#ifndef EFFC_FRONTEND_FAMILIES_FLASHCLASSIC_H
#define EFFC_FRONTEND_FAMILIES_FLASHCLASSIC_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importFlashHgrn(FamilyInput &input);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importFlashLinearAttention(FamilyInput &input);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importFlashSamba(FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_FLASHCLASSIC_H
