// The pre_tokenizer of a tokenizer.json as steps that cut text.
#ifndef EFFC_FRONTEND_TOKENIZER_PRETOKENIZER_H
#define EFFC_FRONTEND_TOKENIZER_PRETOKENIZER_H

#include "frontend/checkpoint/Json.h"

#include "runtime/schema/tokenizer_generated.h"

namespace effc::frontend {

/// Fills `splits` and `add_prefix_space` of `into`. Supported: ByteLevel, alone
/// or at the end of a Sequence of Split (by a pattern or a string; Isolated or
/// Removed) and Digits. A prefix space only where ByteLevel comes first: later
/// it would be put before each piece.
llvm::Error readPreTokenizer(llvm::StringRef file, const JsonValue *value,
                             artifact::TokenizerT &into);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_TOKENIZER_PRETOKENIZER_H
