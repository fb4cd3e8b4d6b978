// Sizes that no artifact can have, refused before anything is made of them.
#ifndef EFFC_COMPILER_MODELSIZES_H
#define EFFC_COMPILER_MODELSIZES_H

#include "mlir/IR/BuiltinOps.h"

namespace effc {

/// Whether the loader would take what the module of the phase `import` asks
/// for: its weights, states and values of calls of `rows` rows. Products of
/// dimensions stop at the largest number instead of beginning anew. The first
/// excess is an error on its op, with what is expected and what was found.
mlir::LogicalResult checkModelSizes(mlir::ModuleOp module, int64_t rows);

/// The same of a module of the phase `plan`: room, launches and kernels.
mlir::LogicalResult checkPlanSizes(mlir::ModuleOp module);

} // namespace effc

#endif // EFFC_COMPILER_MODELSIZES_H
