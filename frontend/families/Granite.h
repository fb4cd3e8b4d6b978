// Granite 4 (`granitemoehybrid`): mixers of Mamba-2, attention in a few layers,
// and factors of muP.
#ifndef EFFC_FRONTEND_FAMILIES_GRANITE_H
#define EFFC_FRONTEND_FAMILIES_GRANITE_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importGraniteHybrid(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_GRANITE_H
