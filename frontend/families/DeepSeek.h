// DeepSeek-V2 and V3: latent attention whose shared channels turn, and experts.
#ifndef EFFC_FRONTEND_FAMILIES_DEEPSEEK_H
#define EFFC_FRONTEND_FAMILIES_DEEPSEEK_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importDeepSeekV2(FamilyInput &);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importDeepSeekV3(FamilyInput &);
/// GLM-4.7-Flash, which is V3 at another size.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importGlm4MoeLite(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_DEEPSEEK_H
