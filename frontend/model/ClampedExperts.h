// Experts with biases, whose gates and ups are bounded (gpt-oss).
#ifndef EFFC_FRONTEND_MODEL_CLAMPEDEXPERTS_H
#define EFFC_FRONTEND_MODEL_CLAMPEDEXPERTS_H

#include "frontend/model/ModelBuilder.h"

namespace effc::frontend {

struct ClampedExpertsConfig {
  /// E, the number that a token takes, and F, the hidden units of each.
  int64_t experts = 1, taken = 1, hidden = 1;
  /// What bounds gates from above and ups from both sides.
  double limit = 7;
  /// What a gate is multiplied with inside of its sigmoid.
  double slope = 1.702;
};

/// The layer of experts from a normalised token x [T, D]. With g and u a gate and
/// an up of x, each with its bias, and w the softmax over the logits of the
/// experts taken:
///
///   g = min(g, limit),  u = clamp(u, -limit, limit)
///   y = sum_e w_e (down_e . ((u + 1) g sigmoid(slope g)) + bias_e)
///
/// The tensors behind `source`: `router.weight` and `.bias`; gates and ups in
/// turn, a row each, `experts.gate_up_proj` [2 F E, D], and
/// `experts.gate_up_proj_bias` [E, 2 F]; `experts.down_proj` [D E, F] and
/// `experts.down_proj_bias` [E, D]. Or three with gates and ups apart, as GGUF
/// files have them: `experts.gate_proj.weight` [E, F, D] and `.bias` [E, F], the
/// same of `up_proj`, and `down_proj` [E, D, F] and [E, D].
mlir::Value emitClampedExperts(ModelBuilder &model,
                               const ClampedExpertsConfig &config,
                               const std::string &name,
                               const std::string &source, mlir::Value x);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_CLAMPEDEXPERTS_H
