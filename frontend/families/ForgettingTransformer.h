// The forgetting transformer, in the layout of flash-linear-attention.
#ifndef EFFC_FRONTEND_FAMILIES_FORGETTINGTRANSFORMER_H
#define EFFC_FRONTEND_FAMILIES_FORGETTINGTRANSFORMER_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importForgettingTransformer(FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_FORGETTINGTRANSFORMER_H
