// Falcon-H1 (`falcon_h1`): a mixer of Mamba-2 and attention side by side in
// each layer, with factors of muP.
#ifndef EFFC_FRONTEND_FAMILIES_FALCONH1_H
#define EFFC_FRONTEND_FAMILIES_FALCONH1_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importFalconH1(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_FALCONH1_H
