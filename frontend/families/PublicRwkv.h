// RWKV4, in the layout of the public library (`rwkv`).
#ifndef EFFC_FRONTEND_FAMILIES_PUBLICRWKV_H
#define EFFC_FRONTEND_FAMILIES_PUBLICRWKV_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importPublicRwkv(FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_PUBLICRWKV_H
