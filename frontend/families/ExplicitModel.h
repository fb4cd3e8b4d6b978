// The explicit layout: config.json lists the blocks one by one.
#ifndef EFFC_FRONTEND_FAMILIES_EXPLICITMODEL_H
#define EFFC_FRONTEND_FAMILIES_EXPLICITMODEL_H

#include "frontend/families/Family.h"

namespace effc::frontend {

/// `model_type: "effc"`. What config.json says, and what tensors are called, is
/// in families/explicit.md.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importExplicit(FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_EXPLICITMODEL_H
