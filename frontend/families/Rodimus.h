// Rodimus and Rodimus+, in the layout of their authors and in that of
// flash-linear-attention.
#ifndef EFFC_FRONTEND_FAMILIES_RODIMUS_H
#define EFFC_FRONTEND_FAMILIES_RODIMUS_H

#include "frontend/families/Family.h"

namespace effc::frontend {

/// `model_type: "rodimus"`, RodimusForCausalLM: the authors' layout where there
/// is a `d_model`, else flash-linear-attention's.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importRodimus(FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_RODIMUS_H
