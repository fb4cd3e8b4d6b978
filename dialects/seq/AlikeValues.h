// Whether values of a body are made alike.
#ifndef EFFC_DIALECTS_SEQ_ALIKEVALUES_H
#define EFFC_DIALECTS_SEQ_ALIKEVALUES_H

#include "mlir/IR/Value.h"

namespace effc::seq {

/// Whether two values of a body are made by the same ops from the same values,
/// so that they are equal. Values that are used again are compared once.
bool areAlike(mlir::Value a, mlir::Value b);

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_ALIKEVALUES_H
