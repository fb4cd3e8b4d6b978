// MiniMax: lightning attention and softmax attention in turn, experts in every
// layer.
#ifndef EFFC_FRONTEND_FAMILIES_MINIMAXTEXT_H
#define EFFC_FRONTEND_FAMILIES_MINIMAXTEXT_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importMiniMax(FamilyInput &input);

/// The same tensors with the configuration of the released checkpoints' own
/// code (MiniMax-Text-01, MiniMax-M1).
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importMiniMaxText01(FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_MINIMAXTEXT_H
