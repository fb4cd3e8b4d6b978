// BLOOM (`bloom`).
#ifndef EFFC_FRONTEND_FAMILIES_BLOOM_H
#define EFFC_FRONTEND_FAMILIES_BLOOM_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importBloom(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_BLOOM_H
