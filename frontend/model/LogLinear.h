// Log-linear attention: a state for each level of a Fenwick tree over positions.
// Source: Guo et al., arXiv:2506.04761.
#ifndef EFFC_FRONTEND_MODEL_LOGLINEAR_H
#define EFFC_FRONTEND_MODEL_LOGLINEAR_H

#include "frontend/model/ModelBuilder.h"
#include "frontend/model/StateSpaceConfig.h"

namespace effc::frontend {

/// What a layer's states are made of and read by.
struct LevelTokens {
  mlir::Value value;      ///< [T, H, V]
  mlir::Value step;       ///< [T, H], before its bias and softplus
  mlir::Value key, query; ///< [T, G, K]
  mlir::Value weight;     ///< [T, H L], before its factor and softplus
};

/// What the levels of `config` read, summed by their weights: [T, H, V]. `name`
/// and `source` end with a point.
mlir::Value emitLevels(ModelBuilder &model, const StateSpaceConfig &config,
                       const std::string &name, const std::string &source,
                       const LevelTokens &tokens);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_LOGLINEAR_H
