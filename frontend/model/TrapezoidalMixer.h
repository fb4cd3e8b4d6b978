// The mixer of Mamba-3: keys and queries that turn by a running angle, and a
// recurrence whose steps are trapezoids.
#ifndef EFFC_FRONTEND_MODEL_TRAPEZOIDALMIXER_H
#define EFFC_FRONTEND_MODEL_TRAPEZOIDALMIXER_H

#include "frontend/model/ModelBuilder.h"

namespace effc::frontend {

/// What makes a rate of decay of a number: softplus, or 1 + x above 0 and
/// 1 / (1 - x) below.
enum class RateActivation { Softplus, HeavyTail };

struct TrapezoidalConfig {
  int64_t heads = 1, values = 1, keys = 1, groups = 1; // H, V, K, G
  /// Pairs of key channels that turn; the channels behind them do not.
  int64_t pairs = 1;
  /// Of in_proj and out_proj.
  bool bias = false;
  /// Of the norms of keys, queries and results.
  double epsilon = 1e-5;
  /// No rate of decay is below it.
  double leastRate = 1e-4;
  RateActivation rate = RateActivation::Softplus;
  /// Whether each head of the results is normalised before the gate.
  bool outputNorm = false;

  /// Channels inside the mixer, H * V.
  int64_t inner() const { return heads * values; }
  /// Channels of all keys, and of all queries.
  int64_t groupKeys() const { return groups * keys; }
  /// Rows of in_proj: z, x, B, C, dt, A, the shares, the angles.
  int64_t projected() const {
    return 2 * inner() + 2 * groupKeys() + 3 * heads + pairs;
  }
};

/// Emits it from normalised tokens [T, D] to what the residual gets. `name` and
/// `source` are the mixer's, with a dot at the end.
mlir::Value emitTrapezoidalMixer(ModelBuilder &model,
                                 const TrapezoidalConfig &config,
                                 const std::string &name,
                                 const std::string &source, mlir::Value x);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_TRAPEZOIDALMIXER_H
