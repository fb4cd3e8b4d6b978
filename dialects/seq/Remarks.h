// How remarks of one kind begin, so that whoever collects them can tell.
#ifndef EFFC_DIALECTS_SEQ_REMARKS_H
#define EFFC_DIALECTS_SEQ_REMARKS_H

#include "llvm/ADT/StringRef.h"

namespace effc::seq {

/// Starts the remark of a choice that is not what was asked for, or not the
/// fast one; `--werror=fallback` makes such remarks errors.
inline constexpr llvm::StringLiteral kFallbackRemark = "fallback: ";

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_REMARKS_H
