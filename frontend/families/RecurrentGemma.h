// RecurrentGemma (Griffin): gated recurrences and windows of attention in turn.
#ifndef EFFC_FRONTEND_FAMILIES_RECURRENTGEMMA_H
#define EFFC_FRONTEND_FAMILIES_RECURRENTGEMMA_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importRecurrentGemma(FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_RECURRENTGEMMA_H
