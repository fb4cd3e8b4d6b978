// Gemma 4 (`gemma4_text`, and the text of `gemma4`): heads by kind of layer, keys
// and values that late layers share, inputs of each layer's own.
#ifndef EFFC_FRONTEND_FAMILIES_GEMMA4_H
#define EFFC_FRONTEND_FAMILIES_GEMMA4_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importGemma4Text(FamilyInput &);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importGemma4(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_GEMMA4_H
