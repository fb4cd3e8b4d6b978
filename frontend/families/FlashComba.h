// Comba, a delta rule that reads what it corrects by a key of its own, in the
// layout of flash-linear-attention.
#ifndef EFFC_FRONTEND_FAMILIES_FLASHCOMBA_H
#define EFFC_FRONTEND_FAMILIES_FLASHCOMBA_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importFlashComba(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_FLASHCOMBA_H
