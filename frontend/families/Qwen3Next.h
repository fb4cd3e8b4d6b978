// Qwen3-Next (`qwen3_next`), Qwen3.5 and Qwen3.6 (`qwen3_5`, `qwen3_5_moe`), as
// text alone and as the text's part of a model that sees.
#ifndef EFFC_FRONTEND_FAMILIES_QWEN3NEXT_H
#define EFFC_FRONTEND_FAMILIES_QWEN3NEXT_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importQwen3Next(FamilyInput &);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importQwen35Text(FamilyInput &);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importQwen35MoeText(FamilyInput &);
/// Inside a configuration of several parts.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importQwen35(FamilyInput &);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importQwen35Moe(FamilyInput &);
int64_t readQwen35Vocabulary(ConfigReader &, int64_t most);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_QWEN3NEXT_H
