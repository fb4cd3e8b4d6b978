// ZAYA1 (`zaya`): attention over convolved queries and keys, and experts of which
// each token takes one or none.
#ifndef EFFC_FRONTEND_FAMILIES_ZAYA_H
#define EFFC_FRONTEND_FAMILIES_ZAYA_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importZaya(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_ZAYA_H
