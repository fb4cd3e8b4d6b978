// Qwen3-Next (`qwen3_next`).
#ifndef EFFC_FRONTEND_FAMILIES_QWEN3NEXT_H
#define EFFC_FRONTEND_FAMILIES_QWEN3NEXT_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importQwen3Next(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_QWEN3NEXT_H
