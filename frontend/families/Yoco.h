// YOCO: layers whose states do not grow, then layers that all attend to one
// table of keys and values.
#ifndef EFFC_FRONTEND_FAMILIES_YOCO_H
#define EFFC_FRONTEND_FAMILIES_YOCO_H

#include "frontend/families/Family.h"

namespace effc::frontend {

/// flash-linear-attention's layout, with gated retention, Gated DeltaNet or
/// windows of attention in the first layers.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importYoco(FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_YOCO_H
