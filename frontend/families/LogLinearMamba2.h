// Mamba-2 with log-linear attention, in the layout of flash-linear-attention.
#ifndef EFFC_FRONTEND_FAMILIES_LOGLINEARMAMBA2_H
#define EFFC_FRONTEND_FAMILIES_LOGLINEARMAMBA2_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importLogLinearMamba2(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_LOGLINEARMAMBA2_H
