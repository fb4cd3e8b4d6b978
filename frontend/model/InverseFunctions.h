// What a function has to be of, to give what is wanted: for mixers that take a
// number before their function.
#ifndef EFFC_FRONTEND_MODEL_INVERSEFUNCTIONS_H
#define EFFC_FRONTEND_MODEL_INVERSEFUNCTIONS_H

#include "frontend/model/ModelBuilder.h"

namespace effc::frontend {

/// What the softplus of is `y`, which is above 0. Its negation is what the log of
/// the sigmoid of is `-y`.
mlir::Value beforeSoftplus(ModelBuilder &model, const std::string &name,
                           mlir::Value y);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_INVERSEFUNCTIONS_H
