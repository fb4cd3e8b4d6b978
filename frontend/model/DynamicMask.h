// The number per key that acts on its scores, in attention with a dynamic mask.
#ifndef EFFC_FRONTEND_MODEL_DYNAMICMASK_H
#define EFFC_FRONTEND_MODEL_DYNAMICMASK_H

#include "frontend/model/ModelBuilder.h"

namespace effc::frontend {

/// exp(rate * softplus(step)) [T, N], from step [T, N] and rate [N].
mlir::Value keyNumbers(ModelBuilder &model, const std::string &name,
                       mlir::Value step, mlir::Value rate);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_DYNAMICMASK_H
