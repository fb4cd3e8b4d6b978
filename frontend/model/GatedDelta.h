// The mixer of the gated delta rule, whose values have several heads for each
// head of queries and keys: what Qwen3-Next and later hybrids have.
#ifndef EFFC_FRONTEND_MODEL_GATEDDELTA_H
#define EFFC_FRONTEND_MODEL_GATEDDELTA_H

#include "frontend/model/ModelBuilder.h"

namespace effc::frontend {

/// How the projections of a layer lie.
enum class DeltaLayout {
  /// `in_proj_qkvz`: queries, keys, values and gates, in turn for each group of
  /// heads; `in_proj_ba`: learning rates and time steps, in turn alike.
  InTurn,
  /// `in_proj_qkv`: all queries, all keys, all values; `in_proj_z`: gates;
  /// `in_proj_ba` as above.
  GatesApart,
  /// `in_proj_qkv` and `in_proj_z` as above; `in_proj_b` and `in_proj_a`.
  Apart,
  /// `in_proj`: all queries, keys, values, gates, learning rates, time steps.
  Joined,
  /// A matrix for each: `q_proj`, `k_proj`, `v_proj`, `g_proj`, `b_proj`,
  /// `a_proj`; the convolution's taps of each too, `q_conv1d` and so on.
  Each
};

struct GatedDeltaConfig {
  /// G, H: heads of queries and keys, and of values. K, V: channels of each.
  int64_t groups = 1, heads = 1, keys = 1, values = 1;
  int64_t taps = 4;
  /// What follows the convolution.
  seq::Nonlinearity function = seq::Nonlinearity::Silu;
  /// Of the norm of each head's result.
  double epsilon = 1e-6;
  DeltaLayout layout = DeltaLayout::InTurn;
  /// Whether the convolution's taps lie in one tensor where there is a matrix for
  /// each projection.
  bool joinedTaps = false;
  /// Learning rates lie between 0 and this.
  double mostRate = 1;
  llvm::StringRef normName = "norm", outName = "out_proj";
  /// Whether heads of values lie one of each group in turn (`StoredForm`). What
  /// has one head of each group is then a mixer of its own.
  bool tiled = false;

  int64_t keyWidth() const { return groups * keys; }
  int64_t inner() const { return heads * values; }
  /// Channels of the values of a group's heads.
  int64_t groupValues() const { return inner() / groups; }
};

/// Reads `linear_num_key_heads`, `linear_num_value_heads`,
/// `linear_key_head_dim`, `linear_value_head_dim` and `linear_conv_kernel_dim`.
/// Problems are left in the reader. `function` is the model's `hidden_act`, which
/// the public library has behind the convolution too.
GatedDeltaConfig readGatedDelta(ConfigReader &reader,
                                seq::Nonlinearity function);

/// Projections, convolutions, the rule, norm, gate, out_proj; `name` and
/// `source` end with a point.
mlir::Value emitGatedDelta(ModelBuilder &model, const GatedDeltaConfig &config,
                           const std::string &name, const std::string &source,
                           mlir::Value x);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_GATEDDELTA_H
