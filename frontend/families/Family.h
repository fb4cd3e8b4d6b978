// What a model family is to the frontend: the names it answers to and a
// function from a checkpoint to a module. Families are data; nothing else names
// one.
#ifndef EFFC_FRONTEND_FAMILIES_FAMILY_H
#define EFFC_FRONTEND_FAMILIES_FAMILY_H

#include "frontend/checkpoint/Checkpoint.h"
#include "frontend/checkpoint/ConfigReader.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>

namespace effc::frontend {

/// Element types in which a matrix of weights can be kept.
enum class WeightType { F32, BF16 };

/// What was decided on the way and why, one plain line each.
using Remarks = std::vector<std::string>;

/// What a family's importer reads and writes to.
struct FamilyInput {
  mlir::MLIRContext *context;
  /// config.json, of which the keys common to all families have been asked for.
  /// The importer asks for its own and finishes the reader before it builds.
  ConfigReader &config;
  Checkpoint &checkpoint;
  /// 'vocab_size'.
  int64_t vocabulary;
  /// The type of all matrices; absent: as each is stored.
  std::optional<WeightType> dtype;
  Remarks &remarks;
};

struct Family {
  /// `model_type` and the entry of `architectures` in config.json.
  llvm::StringRef modelType;
  llvm::StringRef architecture;
  /// Builds the module: seq.model, the weights, @forward.
  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> (*import)(FamilyInput &);
};

/// All families, in alphabetical order of their model_type.
llvm::ArrayRef<Family> getFamilies();

/// The family of a configuration, by its 'model_type' and 'architectures'. Null
/// with a problem left in the reader where there is none.
const Family *findFamily(ConfigReader &config);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_FAMILY_H
