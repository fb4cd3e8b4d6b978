// What a model family is to the frontend: the names it answers to and a
// function from a checkpoint to a module. Families are data; nothing else names
// one.
#ifndef EFFC_FRONTEND_FAMILIES_FAMILY_H
#define EFFC_FRONTEND_FAMILIES_FAMILY_H

#include "frontend/model/ModelInput.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace effc::frontend {

struct Family {
  /// `model_type` and the entry of `architectures` in config.json (several
  /// names are separated by spaces); empty for a layout whose config.json has
  /// neither and is known by `signature`.
  llvm::StringRef modelType;
  llvm::StringRef architecture;
  /// A key that only this layout's config.json has.
  llvm::StringRef signature;
  /// Reads the size of the vocabulary, at most `most`; problems are left in the
  /// reader.
  int64_t (*readVocabulary)(ConfigReader &, int64_t most);
  /// Builds the module: seq.model, the weights, @forward.
  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> (*import)(FamilyInput &);
  /// Whether checkpoints come with code of their own, which 'auto_map' names
  /// and which this family stands for.
  bool hasOwnCode = false;
};

/// A `model_type` that is known and not read.
struct RefusedModel {
  llvm::StringLiteral modelType;
  /// Why its form does not fit, or what it lacks: the end of a message.
  llvm::StringLiteral reason;
};

/// All of them, in alphabetical order.
llvm::ArrayRef<RefusedModel> getRefusedModels();

/// All families and their layouts.
llvm::ArrayRef<Family> getFamilies();

/// The family of a configuration, by its 'model_type' and 'architectures' or,
/// where it has no 'model_type', by a signature. Null with a problem left in
/// the reader where there is none.
const Family *findFamily(ConfigReader &config);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_FAMILY_H
