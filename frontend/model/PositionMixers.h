// Mixers whose weights belong to absolute positions.
#ifndef EFFC_FRONTEND_MODEL_POSITIONMIXERS_H
#define EFFC_FRONTEND_MODEL_POSITIONMIXERS_H

#include "frontend/model/ModelBuilder.h"

namespace effc::frontend {

/// The row of each token's position, [T, heads], of numbers that the checkpoint
/// holds as `heads` rows of `positions`, in one tensor or in several.
mlir::Value positionRows(ModelBuilder &model, const std::string &name,
                         WeightSource source, int64_t heads, int64_t positions);

/// What heads of a structured recurrence weigh tokens with; any may be absent.
struct StructuredWeights {
  /// [T, H]: of a token as it is written, of the sum as it is read, added to
  /// every channel, and of a token for itself.
  mlir::Value source, target, bias, diagonal;
  /// [H], to be clipped and taken to the power 1 / root.
  mlir::Value decay;
  int64_t root = 1;
};

/// Heads of a structured recurrence on x [T, H, V], with a state `name`.
mlir::Value emitStructured(ModelBuilder &model, const std::string &name,
                           mlir::Value x, const StructuredWeights &weights);

/// x [T, D] mixed by the weights `source`.weight of pairs of positions, and
/// perhaps `source`.bias: a convolution over tokens that sees `kernel`
/// channels.
mlir::Value emitCausalMix(ModelBuilder &model, const std::string &name,
                          const std::string &source, mlir::Value x,
                          int64_t positions, int64_t kernel,
                          bool hasBias = true);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_POSITIONMIXERS_H
