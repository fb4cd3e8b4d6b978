// From a model as users have it to a `seq` module: the phase `import`.
#ifndef EFFC_FRONTEND_IMPORT_H
#define EFFC_FRONTEND_IMPORT_H

#include "frontend/Generation.h"
#include "frontend/checkpoint/Checkpoint.h"
#include "frontend/families/Family.h"
#include "frontend/importance/EntryNames.h"
#include "frontend/importance/WeightImportance.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>

namespace effc::frontend {

struct ImportOptions {
  /// How matrices of weights are stored (weights/WeightTypes.h); empty: as the checkpoint
  /// has each, or, without weights, as config.json says. A `.mlir` file has its
  /// types already, so it takes none.
  std::string weightsType;
  /// A file that says how much each column of matrices counts where they are rounded
  /// to `weightsType` (importance/ImportanceFile.h); empty: none.
  std::string importance;
  /// ShapesOnly: a checkpoint directory need not have weights.
  WeightsNeeded weights = WeightsNeeded::Yes;
  /// Whether gated norms take one mean over all channels where the model has
  /// one per group: what releases of the public library before 5 compute, and
  /// what a model has been trained with that was trained by one of them.
  bool ungroupedNorm = false;
  /// Positions of the longest context that is asked for; 0: the model's.
  int64_t maxContext = 0;
  /// What layers of attention see instead of more keys.
  StreamedKeys streamed;
  /// For a `.mlir` file, the checkpoint directory that its weights name; empty:
  /// the model has no weights yet.
  std::string weightsFrom;
  /// Keys of config.json that are left aside though they may change the model:
  /// the user answers for them (checkpoint/UnreadKeys.h).
  std::vector<std::string> allow;
  /// Whether the tokenizer is read where there is one.
  bool tokenizer = true;
  /// The directory that the tokenizer's files lie in; empty: where the model's lie,
  /// or in a GGUF file itself.
  std::string tokenizerFrom;
};

/// A file that the model was made from. `name` is relative to the checkpoint.
struct SourceFile {
  std::string name;
  uint64_t size = 0;
  uint64_t checksum = 0; // XXH3-64
};

struct ImportedModel {
  /// seq.model, one seq.weight per tensor, and @forward.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// The data that the weights' sources name; null without weights. Read it by
  /// getData() or frontend/weights/Weights.h, then call checkUnchanged().
  std::unique_ptr<Checkpoint> checkpoint;
  /// The bytes of the artifact's tokenizer segment (schema/tokenizer.fbs).
  std::optional<std::vector<uint8_t>> tokenizer;
  Generation generation;
  /// Of matrices that are rounded; of none without a file of it.
  WeightImportance importance;
  /// How entries of such a file are named that is made of the model.
  EntryNames entryNames;
  /// In alphabetical order.
  std::vector<SourceFile> sources;
  /// What became of each tensor and setting, one plain line each.
  Remarks remarks;
};

/// Imports a checkpoint directory in the Hugging Face layout, or a `.mlir` file
/// of the seq dialect. Fails, with one line, on whatever is not understood. The
/// context needs the dialects func and seq, which this loads.
llvm::Expected<ImportedModel> importModel(mlir::MLIRContext &context,
                                          llvm::StringRef path,
                                          const ImportOptions &options = {});

} // namespace effc::frontend

#endif // EFFC_FRONTEND_IMPORT_H
