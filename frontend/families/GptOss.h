// gpt-oss (`gpt_oss`): windows and logits without values in attention, experts
// with biases.
#ifndef EFFC_FRONTEND_FAMILIES_GPTOSS_H
#define EFFC_FRONTEND_FAMILIES_GPTOSS_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importGptOss(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_GPTOSS_H
