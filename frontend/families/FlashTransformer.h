// The decoder of softmax attention that flash-linear-attention compares its
// models with.
#ifndef EFFC_FRONTEND_FAMILIES_FLASHTRANSFORMER_H
#define EFFC_FRONTEND_FAMILIES_FLASHTRANSFORMER_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importFlashTransformer(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_FLASHTRANSFORMER_H
