// Qwen2-MoE (`qwen2_moe`) and Qwen3-MoE (`qwen3_moe`).
#ifndef EFFC_FRONTEND_FAMILIES_QWENMOE_H
#define EFFC_FRONTEND_FAMILIES_QWENMOE_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importQwen2Moe(FamilyInput &);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importQwen3Moe(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_QWENMOE_H
