// Softmax attention in which a number per key acts on its scores.
#ifndef EFFC_FRONTEND_MODEL_DYNAMICMASK_H
#define EFFC_FRONTEND_MODEL_DYNAMICMASK_H

#include "frontend/model/ModelBuilder.h"

namespace effc::frontend {

struct MaskedAttention {
  double scale = 1;
  std::optional<double> softCap;
  int64_t window = 0;
  seq::KeyScore mask = seq::KeyScore::Bias;
  /// Only that many keys, those of the largest numbers, count.
  std::optional<int64_t> keep;
};

/// exp(rate * softplus(step)) [T, N], from step [T, N] and rate [N].
mlir::Value keyNumbers(ModelBuilder &model, const std::string &name,
                       mlir::Value step, mlir::Value rate);

/// The attention itself, with the states of its keys, values and numbers:
/// [T, H, V] from [T, H, K], [T, G, K], [T, J, V] and [T, N].
mlir::Value attendMasked(ModelBuilder &model, const std::string &name,
                         const MaskedAttention &config, mlir::Value query,
                         mlir::Value key, mlir::Value value,
                         mlir::Value numbers);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_DYNAMICMASK_H
