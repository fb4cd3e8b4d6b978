// Gemma 2 and Gemma 3: norms on both sides of a layer, windows in most layers.
#ifndef EFFC_FRONTEND_FAMILIES_GEMMA_H
#define EFFC_FRONTEND_FAMILIES_GEMMA_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importGemma2(FamilyInput &input);
/// `gemma3_text`, whose config.json is that of the text alone.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importGemma3Text(FamilyInput &input);
/// `gemma3`, whose config.json has the text's as `text_config`, beside that of
/// a part that sees, which is left aside.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importGemma3(FamilyInput &input);
int64_t readGemma3Vocabulary(ConfigReader &config, int64_t most);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_GEMMA_H
