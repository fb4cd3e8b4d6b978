// What a model's builders read and write to, and the limits of what they read.
#ifndef EFFC_FRONTEND_MODEL_MODELINPUT_H
#define EFFC_FRONTEND_MODEL_MODELINPUT_H

#include "frontend/checkpoint/Checkpoint.h"
#include "frontend/checkpoint/ConfigReader.h"
#include "frontend/checkpoint/HeldNames.h"
#include "frontend/checkpoint/StoredForm.h"
#include "frontend/weights/WeightTypes.h"

#include "mlir/IR/MLIRContext.h"

#include <optional>

namespace effc::frontend {

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
  /// How all matrices lie in a checkpoint of which there is only the configuration;
  /// null: as the checkpoint has each.
  mlir::Type declared;
  /// How they are to be stored; null: as they lie there.
  const WeightTypes *types;
  /// Whether a gated norm that takes one mean per group takes one over all
  /// channels instead.
  bool ungroupedNorm;
  /// The positions that the longest context is asked to have; 0: the model's.
  int64_t contextWanted;
  StreamedKeys streamed;
  StoredForm stored;
  Remarks &remarks;
  /// Whether a layer has followed `streamed`.
  bool streams = false;
  /// The widest window of a layer that has not, since it sees no more; 0: there
  /// is none.
  int64_t widestKept = 0;
  /// How the checkpoint calls the tensors that families name.
  HeldNames names = {};
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

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_MODELINPUT_H
