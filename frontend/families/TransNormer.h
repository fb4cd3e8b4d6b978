// TransNormerLLM, in the layout of its authors.
#ifndef EFFC_FRONTEND_FAMILIES_TRANSNORMER_H
#define EFFC_FRONTEND_FAMILIES_TRANSNORMER_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importTransNormer(FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_TRANSNORMER_H
