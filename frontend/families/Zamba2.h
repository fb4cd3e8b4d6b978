// Zamba2 (`zamba2`): mixers of Mamba-2, and transformer blocks that several layers
// share.
#ifndef EFFC_FRONTEND_FAMILIES_ZAMBA2_H
#define EFFC_FRONTEND_FAMILIES_ZAMBA2_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importZamba2(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_ZAMBA2_H
