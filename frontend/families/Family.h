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
enum class WeightType { F32, BF16, F16 };

/// What layers that see more keys are to see instead: the first tokens of a
/// sequence and its last ones, as if positions were places in a cache of them
/// (`sink_query` of seq.attention).
struct StreamedKeys {
  /// The first tokens; 0: none.
  int64_t sinks = 0;
  /// The last tokens, the query's own included; 0: nothing is asked for.
  int64_t window = 0;
};

/// What a family's importer reads and writes to.
struct FamilyInput {
  mlir::MLIRContext *context;
  /// config.json, of which the keys common to all families have been asked for.
  /// The importer asks for its own and finishes the reader before it builds.
  ConfigReader &config;
  Checkpoint &checkpoint;
  /// Rows of the table of embeddings, and columns of the logits.
  int64_t vocabulary;
  /// The type of all matrices; absent: as each is stored.
  std::optional<WeightType> dtype;
  /// Whether a gated norm that takes one mean per group takes one over all
  /// channels instead.
  bool ungroupedNorm;
  /// The positions that the longest context is asked to have; 0: the model's.
  int64_t contextWanted;
  StreamedKeys streamed;
  Remarks &remarks;
  /// Whether a layer has followed `streamed`.
  bool streams = false;
  /// The widest window of a layer that has not, since it sees no more; 0: there
  /// is none.
  int64_t widestKept = 0;
};

/// The most that a dimension of a configuration may be, and the most layers:
/// eight times those of the deepest public model (126 of Llama 3.1 405B), which
/// compile within a minute.
constexpr int64_t kMostDimension = int64_t(1) << 20;
constexpr int64_t kMostLayers = 1024;
/// Experts of a layer, each of which has tensors of its own: some thirty times
/// the most that public models have (512 of Qwen3-Next).
constexpr int64_t kMostExperts = int64_t(1) << 14;
constexpr int64_t kMostContext = int64_t(1) << 30;

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

/// All families and their layouts.
llvm::ArrayRef<Family> getFamilies();

/// The family of a configuration, by its 'model_type' and 'architectures' or,
/// where it has no 'model_type', by a signature. Null with a problem left in
/// the reader where there is none.
const Family *findFamily(ConfigReader &config);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_FAMILY_H
