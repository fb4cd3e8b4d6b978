// Nemotron-H and Nemotron 3 (`nemotron_h`): layers of one mixer each, of
// Mamba-2, attention, an MLP or experts without gates.
#ifndef EFFC_FRONTEND_FAMILIES_NEMOTRONH_H
#define EFFC_FRONTEND_FAMILIES_NEMOTRONH_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importNemotronH(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_NEMOTRONH_H
