// Ling and Ring 2 and 2.5 (`bailing_moe`, `bailing_moe_linear`, and `bailing_hybrid`
// of the architecture BailingMoeV2_5ForCausalLM), and Sarvam (`sarvam_moe`): softmax
// attention, or beside it lightning attention; experts in groups.
#ifndef EFFC_FRONTEND_FAMILIES_BAILINGMOE_H
#define EFFC_FRONTEND_FAMILIES_BAILINGMOE_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importBailingMoe(FamilyInput &input);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importSarvamMoe(FamilyInput &input);

/// With lightning attention. The layers beside it have latent attention where the
/// configuration has its sizes.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importBailingMoeLinear(FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_BAILINGMOE_H
