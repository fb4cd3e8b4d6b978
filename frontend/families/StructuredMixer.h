// Structured recurrent mixers and masked mixers, under the names of their
// author's public modules.
#ifndef EFFC_FRONTEND_FAMILIES_STRUCTUREDMIXER_H
#define EFFC_FRONTEND_FAMILIES_STRUCTUREDMIXER_H

#include "frontend/families/Family.h"

namespace effc::frontend {

/// Their checkpoints come without a configuration: config.json has the
/// arguments with which the module was made, and `model_type`.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importStructuredMixer(FamilyInput &input);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importMaskedMixer(FamilyInput &input);
/// The size of a masked mixer's vocabulary.
int64_t readMaskedMixerVocabulary(ConfigReader &reader, int64_t most);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_STRUCTUREDMIXER_H
