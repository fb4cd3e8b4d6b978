// How the frontend says no: one plain line, lower case, no final period.
#ifndef EFFC_FRONTEND_CHECKPOINT_REFUSAL_H
#define EFFC_FRONTEND_CHECKPOINT_REFUSAL_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <string>

namespace effc::frontend {

/// An error whose message is `message`.
llvm::Error refuse(const llvm::Twine &message);

/// `text` between `mark`s, fit for a one-line message whatever it holds:
/// control characters and bytes that are not UTF-8 are written \xNN, and what
/// lies past 120 bytes is replaced by "...".
std::string quote(llvm::StringRef text, char mark = '\'');

} // namespace effc::frontend

#endif // EFFC_FRONTEND_CHECKPOINT_REFUSAL_H
