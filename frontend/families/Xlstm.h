// xLSTM with matrix memories (mLSTM), in the layout of the public library.
#ifndef EFFC_FRONTEND_FAMILIES_XLSTM_H
#define EFFC_FRONTEND_FAMILIES_XLSTM_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importXlstm(FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_XLSTM_H
