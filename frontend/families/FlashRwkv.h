// RWKV6 and RWKV7, in the layouts of flash-linear-attention.
#ifndef EFFC_FRONTEND_FAMILIES_FLASHRWKV_H
#define EFFC_FRONTEND_FAMILIES_FLASHRWKV_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importFlashRwkv6(FamilyInput &input);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importFlashRwkv7(FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_FLASHRWKV_H
