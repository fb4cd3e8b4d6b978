// LFM2 (`lfm2`, `lfm2_moe`): gated short convolutions, attention every few
// layers.
#ifndef EFFC_FRONTEND_FAMILIES_LFM2_H
#define EFFC_FRONTEND_FAMILIES_LFM2_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importLfm2(FamilyInput &);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importLfm2Moe(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_LFM2_H
