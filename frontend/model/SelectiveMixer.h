// The mixer of Mamba, which hybrids have too.
#ifndef EFFC_FRONTEND_MODEL_SELECTIVEMIXER_H
#define EFFC_FRONTEND_MODEL_SELECTIVEMIXER_H

#include "frontend/model/ModelBuilder.h"

namespace effc::frontend {

struct SelectiveConfig {
  /// E, N, R: channels inside, keys, the rank of the time step.
  int64_t inner = 1, keys = 1, rank = 1;
  int64_t taps = 4;
  bool projectionBias = false, convolutionBias = true;
  /// What follows the convolution.
  seq::Nonlinearity function = seq::Nonlinearity::Silu;
  /// Norms of time step, keys and queries, with or without weights.
  std::optional<double> innerNorm;
  bool innerNormWeights = false;
  /// Heads of which each has keys, queries and time steps of its own, of the
  /// channels that are its own; the rows of in_proj are then those of values and
  /// of gates in turn. 0: one head, and first values, then gates.
  int64_t heads = 0;
  /// What these norms are called, before "_layernorm".
  llvm::StringLiteral keyNorm = "b", queryNorm = "c";
};

/// in_proj, convolution, x_proj, dt_proj, scan, gate, out_proj; `name` and
/// `source` end with a point.
mlir::Value emitSelectiveMixer(ModelBuilder &model,
                               const SelectiveConfig &config,
                               const std::string &name,
                               const std::string &source, mlir::Value x);

/// The rank of the time step, which may be "auto".
int64_t readTimeStepRank(ConfigReader &reader, llvm::StringRef key,
                         int64_t width);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_SELECTIVEMIXER_H
