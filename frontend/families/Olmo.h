// Decoders whose layers have their norms behind attention and MLP: OLMo 2
// and 3, EXAONE 4.
#ifndef EFFC_FRONTEND_FAMILIES_OLMO_H
#define EFFC_FRONTEND_FAMILIES_OLMO_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importOlmo2(FamilyInput &);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importOlmo3(FamilyInput &);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importExaone4(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_OLMO_H
