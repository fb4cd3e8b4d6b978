// PLaMo-3 (`plamo3`): attention of normed queries and keys, in a window in most
// layers, between the norms of PLaMo-2.
#ifndef EFFC_FRONTEND_FAMILIES_PLAMO3_H
#define EFFC_FRONTEND_FAMILIES_PLAMO3_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importPlamo3(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_PLAMO3_H
