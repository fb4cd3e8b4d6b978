// The pre_tokenizer of a tokenizer.json as steps of the segment.
#ifndef EFFC_FRONTEND_TOKENIZER_PRETOKENIZER_H
#define EFFC_FRONTEND_TOKENIZER_PRETOKENIZER_H

#include "frontend/checkpoint/Json.h"

#include "runtime/schema/tokenizer_generated.h"

namespace effc::frontend {

/// Fills `pieces` of `into` from null, one of the library's pre-tokenizers, or
/// a Sequence of them. Patterns are translated (SplitPattern.h); classes of
/// characters become patterns too.
llvm::Error readPreTokenizer(llvm::StringRef file, const JsonValue *value,
                             artifact::TokenizerT &into);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_TOKENIZER_PRETOKENIZER_H
