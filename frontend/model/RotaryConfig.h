// Rotary positions as config.json describes them, in the spellings of releases
// 4 (`rope_theta`, `rope_scaling`, `partial_rotary_factor`) and 5
// (`rope_parameters`) of the public library.
#ifndef EFFC_FRONTEND_MODEL_ROTARYCONFIG_H
#define EFFC_FRONTEND_MODEL_ROTARYCONFIG_H

#include "dialects/seq/Seq.h"
#include "frontend/model/ModelInput.h"

namespace effc::frontend {

/// How queries and keys are turned; nothing is where there are no frequencies.
struct RotaryConfig {
  seq::RotaryFrequenciesAttr frequencies;
  /// P, the pairs of channels that turn.
  int64_t pairs = 0;
  double amplitude = 1;
  seq::RotaryPairs layout = seq::RotaryPairs::Half;
  /// What queries are multiplied with by their positions; null: nothing.
  seq::PositionScalesAttr queryScales;
};

/// What a family knows beside the keys about positions.
struct RotaryRequest {
  /// K, the channels of a query.
  int64_t keys;
  /// The context the model is for: `max_position_embeddings`.
  int64_t context;
  double theta = 1e4;
  double turned = 1;
  /// The object of this kind of layers inside `rope_parameters`, if it has one.
  llvm::StringRef layerType = "";
  /// The key that holds theta outside of these objects; empty: none does.
  llvm::StringRef thetaKey = "rope_theta";
  /// Theta in the place of what these keys say.
  std::optional<double> thetaInstead = std::nullopt;
  /// Whether `rope_scaling` applies.
  bool scaled = true;
  /// The key of the share of channels that turn.
  llvm::StringRef shareKey = "partial_rotary_factor";
  /// The same outside of these objects, where it is called otherwise.
  llvm::StringRef outerShareKey = "";
  /// Keys of these objects that change nothing for this model.
  llvm::SmallVector<llvm::StringRef, 2> harmless = {};
  /// The key of these objects for the growth of queries (`queryScales`).
  llvm::StringRef queryScaleKey = "";
  /// The object, as JSON, of a configuration that has none; empty: one without
  /// scaling.
  llvm::StringRef otherwise = "";
};

/// Reads the keys; problems are left in the reader.
RotaryConfig readRotary(ConfigReader &reader, FamilyInput &input,
                        const RotaryRequest &request);

/// Leaves `rope_parameters` aside, for a model that turns no channel: a remark names
/// each key that is set.
void ignoreRotary(ConfigReader &reader, FamilyInput &input);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_ROTARYCONFIG_H
