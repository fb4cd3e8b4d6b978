// LFM3 (`lfm3`): gated convolutions, attention with windows and with all keys.
#ifndef EFFC_FRONTEND_FAMILIES_LFM3_H
#define EFFC_FRONTEND_FAMILIES_LFM3_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importLfm3(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_LFM3_H
