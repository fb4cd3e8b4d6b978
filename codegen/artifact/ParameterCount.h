// How many parameters a model has.
#ifndef EFFC_CODEGEN_ARTIFACT_PARAMETERCOUNT_H
#define EFFC_CODEGEN_ARTIFACT_PARAMETERCOUNT_H

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>

namespace effc::codegen {

/// The elements that a checkpoint has for the weights of a module: all of a
/// tensor that weights are derived from, once, those of a tensor that a weight
/// repeats, once, and none where the config gives the numbers or they say in
/// which order channels lie.
uint64_t countParameters(mlir::ModuleOp module);

} // namespace effc::codegen

#endif // EFFC_CODEGEN_ARTIFACT_PARAMETERCOUNT_H
