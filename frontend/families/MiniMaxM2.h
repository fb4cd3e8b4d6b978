// MiniMax-M2 (`minimax_m2`): a decoder that sees all keys in each layer, with
// experts everywhere.
#ifndef EFFC_FRONTEND_FAMILIES_MINIMAXM2_H
#define EFFC_FRONTEND_FAMILIES_MINIMAXM2_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importMiniMaxM2(FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_MINIMAXM2_H
