// Lara 4 Mini (`lara_mini`): the gated delta rule, windows that turn and layers
// that see all keys and do not, experts everywhere.
#ifndef EFFC_FRONTEND_FAMILIES_LARAMINI_H
#define EFFC_FRONTEND_FAMILIES_LARAMINI_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importLaraMini(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_LARAMINI_H
