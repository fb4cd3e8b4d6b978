// LightNet, in the layout of flash-linear-attention.
#ifndef EFFC_FRONTEND_FAMILIES_FLASHLIGHTNET_H
#define EFFC_FRONTEND_FAMILIES_FLASHLIGHTNET_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importFlashLightNet(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_FLASHLIGHTNET_H
