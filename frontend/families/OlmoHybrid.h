// OLMo Hybrid (`olmo_hybrid`): the gated delta rule, and OLMo 3's attention.
#ifndef EFFC_FRONTEND_FAMILIES_OLMOHYBRID_H
#define EFFC_FRONTEND_FAMILIES_OLMOHYBRID_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importOlmoHybrid(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_OLMOHYBRID_H
