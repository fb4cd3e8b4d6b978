// Gated DeltaProduct, in the layout of flash-linear-attention.
#ifndef EFFC_FRONTEND_FAMILIES_FLASHDELTAPRODUCT_H
#define EFFC_FRONTEND_FAMILIES_FLASHDELTAPRODUCT_H

#include "frontend/families/Family.h"

namespace effc::frontend {

/// A token corrects its state several times, each time by a key, a value and a
/// rate of its own.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importFlashGatedDeltaProduct(FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_FLASHDELTAPRODUCT_H
