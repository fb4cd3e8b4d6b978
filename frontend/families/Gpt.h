// GPT-2 (`gpt2`), GPT-Neo (`gpt_neo`) and GPT-NeoX (`gpt_neox`, as Pythia is).
#ifndef EFFC_FRONTEND_FAMILIES_GPT_H
#define EFFC_FRONTEND_FAMILIES_GPT_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importGpt2(FamilyInput &);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importGptNeo(FamilyInput &);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importGptNeoX(FamilyInput &);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_GPT_H
