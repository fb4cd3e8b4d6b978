// The f32 mathematics of all targets.
#ifndef EFFC_CODEGEN_MATH_PASSES_H
#define EFFC_CODEGEN_MATH_PASSES_H

#include "mlir/Pass/Pass.h"

namespace effc::f32 {

#define GEN_PASS_DECL
#include "codegen/math/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "codegen/math/Passes.h.inc"

} // namespace effc::f32

#endif // EFFC_CODEGEN_MATH_PASSES_H
