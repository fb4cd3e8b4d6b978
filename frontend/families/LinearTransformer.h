// The linear transformers of the package xmixers: states that only grow
// (`linear_transformer`, cosFormer2 among them) and states that decay by gates
// (`decay_linear_transformer`).
#ifndef EFFC_FRONTEND_FAMILIES_LINEARTRANSFORMER_H
#define EFFC_FRONTEND_FAMILIES_LINEARTRANSFORMER_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importLinearTransformer(FamilyInput &);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importDecayLinearTransformer(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_LINEARTRANSFORMER_H
