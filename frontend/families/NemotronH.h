// Nemotron-H and Nemotron 3 (`nemotron_h`): layers of one mixer each, of
// Mamba-2, attention, an MLP or experts without gates.
#ifndef EFFC_FRONTEND_FAMILIES_NEMOTRONH_H
#define EFFC_FRONTEND_FAMILIES_NEMOTRONH_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importNemotronH(FamilyInput &);

/// The text's part of a model that also sees or hears (`NemotronH_Nano_VL_V2`):
/// `llm_config`, or `text_config`.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importNemotronSeeing(FamilyInput &);

/// The rows of its table, which that object has.
int64_t readNemotronSeeingVocabulary(ConfigReader &outer, int64_t most);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_NEMOTRONH_H
