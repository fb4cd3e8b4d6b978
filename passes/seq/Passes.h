// Passes on the seq dialect.
#ifndef EFFC_PASSES_SEQ_PASSES_H
#define EFFC_PASSES_SEQ_PASSES_H

#include "dialects/seq/SeqDialect.h"
#include "mlir/Pass/Pass.h"
#include "passes/kernel_facts/MethodSizes.h"

namespace effc {

/// How `seq-expand-form` chooses the form of a mixer.
enum class FormChoice { Attribute, Step, Quadratic, Chunkwise, Scan };

/// The type in which `seq-plan-state` lays out matrices.
enum class StateStorage { F32, BF16, F16, Int8 };

#define GEN_PASS_DECL
#include "passes/seq/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/seq/Passes.h.inc"

} // namespace effc

#endif // EFFC_PASSES_SEQ_PASSES_H
