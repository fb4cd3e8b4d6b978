// Qwen2 with the mixers of RWKV in the place of attention: QRWKV6
// (`rwkv6qwen2`) and ARWKV (`rwkv_hybrid`).
#ifndef EFFC_FRONTEND_FAMILIES_QWENRWKV_H
#define EFFC_FRONTEND_FAMILIES_QWENRWKV_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importRwkv6Qwen2(FamilyInput &);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importRwkvHybrid(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_QWENRWKV_H
