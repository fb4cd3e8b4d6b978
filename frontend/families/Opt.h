// OPT (`opt`), and Galactica, which has its layout.
#ifndef EFFC_FRONTEND_FAMILIES_OPT_H
#define EFFC_FRONTEND_FAMILIES_OPT_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importOpt(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_OPT_H
