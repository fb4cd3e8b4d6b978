// Doge (`doge`), with and without experts.
#ifndef EFFC_FRONTEND_FAMILIES_DOGE_H
#define EFFC_FRONTEND_FAMILIES_DOGE_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importDoge(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_DOGE_H
