// Jamba: Mamba's mixer and attention in turn, dense layers and experts in turn.
#ifndef EFFC_FRONTEND_FAMILIES_JAMBA_H
#define EFFC_FRONTEND_FAMILIES_JAMBA_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importJamba(FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_JAMBA_H
