// Ling 3 (`bailing_hybrid`): Kimi delta attention, and latent attention whose
// shared channels turn; experts in groups.
#ifndef EFFC_FRONTEND_FAMILIES_BAILINGHYBRID_H
#define EFFC_FRONTEND_FAMILIES_BAILINGHYBRID_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importBailingHybrid(FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_BAILINGHYBRID_H
