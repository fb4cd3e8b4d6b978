// Cheems, in the layout of the Wonderful Matrices repository.
#ifndef EFFC_FRONTEND_FAMILIES_CHEEMS_H
#define EFFC_FRONTEND_FAMILIES_CHEEMS_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importCheems(FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_CHEEMS_H
