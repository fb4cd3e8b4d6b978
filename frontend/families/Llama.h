// Llama and the models that differ from it by a few flags: Mistral, Qwen2,
// Qwen3, Phi-3, Granite 3, Ministral, Mixtral, SmolLM3, Granite with windows,
// Ministral 3.
#ifndef EFFC_FRONTEND_FAMILIES_LLAMA_H
#define EFFC_FRONTEND_FAMILIES_LLAMA_H

#include "frontend/families/Family.h"

namespace effc::frontend {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importLlama(FamilyInput &input);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importMistral(FamilyInput &input);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importQwen2(FamilyInput &input);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importQwen3(FamilyInput &input);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importPhi3(FamilyInput &input);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importGranite(FamilyInput &input);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importMinistral(FamilyInput &input);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importMixtral(FamilyInput &input);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importSmolLm3(FamilyInput &input);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importGraniteSwa(FamilyInput &input);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importMinistral3(FamilyInput &input);

/// Of a model that sees (`mistral3`), the text's part: Mistral's or Ministral 3's.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importMistral3(FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_LLAMA_H
