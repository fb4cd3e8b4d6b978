// Linear attention by feature maps, in the layout of flash-linear-attention.
#ifndef EFFC_FRONTEND_FAMILIES_FLASHLINEARATTENTION_H
#define EFFC_FRONTEND_FAMILIES_FLASHLINEARATTENTION_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importFlashLinearAttention(FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_FLASHLINEARATTENTION_H
