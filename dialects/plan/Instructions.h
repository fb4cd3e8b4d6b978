// Where a plan.binary of a GPU says what its kernels are made of.
#ifndef EFFC_DIALECTS_PLAN_INSTRUCTIONS_H
#define EFFC_DIALECTS_PLAN_INSTRUCTIONS_H

#include "llvm/ADT/StringRef.h"

namespace effc::plan {

/// An array with a dictionary for each kernel: how often a kind of instruction
/// stands in its PTX.
inline constexpr llvm::StringLiteral kInstructionsAttr = "plan.instructions";

} // namespace effc::plan

#endif // EFFC_DIALECTS_PLAN_INSTRUCTIONS_H
