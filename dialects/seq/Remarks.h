// How remarks of one kind begin, so that whoever collects them can tell.
#ifndef EFFC_DIALECTS_SEQ_REMARKS_H
#define EFFC_DIALECTS_SEQ_REMARKS_H

#include "llvm/ADT/StringRef.h"

namespace effc::seq {

/// Starts the remark of a choice that is not what was asked for, or not the
/// fast one; `--werror=fallback` makes such remarks errors.
inline constexpr llvm::StringLiteral kFallbackRemark = "fallback: ";

/// Starts the remark of what a checkpoint asks of whoever generates text and effc does
/// not do, though the model's numbers are all there: it is shown as a fallback is, and
/// is never an error.
inline constexpr llvm::StringLiteral kWarningRemark = "warning: ";

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_REMARKS_H
