// PLaMo-2 (`plamo2`): mixers of Mamba-2 whose keys, queries and time steps follow
// from the convolution, and attention in some layers.
#ifndef EFFC_FRONTEND_FAMILIES_PLAMO2_H
#define EFFC_FRONTEND_FAMILIES_PLAMO2_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importPlamo2(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_PLAMO2_H
