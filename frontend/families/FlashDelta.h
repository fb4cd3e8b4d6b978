// DeltaNet, Gated DeltaNet and Kimi delta attention, in the layouts of
// flash-linear-attention.
#ifndef EFFC_FRONTEND_FAMILIES_FLASHDELTA_H
#define EFFC_FRONTEND_FAMILIES_FLASHDELTA_H

#include "frontend/families/FlashModel.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importFlashDeltaNet(FamilyInput &input);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importFlashGatedDeltaNet(FamilyInput &input);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importFlashKda(FamilyInput &input);

/// The mixer of Gated DeltaNet with the keys of `reader`, an object inside of
/// the configuration of another model. Problems are left in the reader.
FlashMixer readGatedDeltaMixer(ConfigReader &reader, const FlashConfig &model);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_FLASHDELTA_H
