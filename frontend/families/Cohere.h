// Command R7B and Command A (`cohere2`): attention and MLP side by side of one
// normed token, channels that turn in layers with a window alone.
#ifndef EFFC_FRONTEND_FAMILIES_COHERE_H
#define EFFC_FRONTEND_FAMILIES_COHERE_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importCohere2(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_COHERE_H
