// The normalizer of a tokenizer.json as steps of the segment.
#ifndef EFFC_FRONTEND_TOKENIZER_NORMALIZER_H
#define EFFC_FRONTEND_TOKENIZER_NORMALIZER_H

#include "frontend/checkpoint/Json.h"

#include "runtime/schema/tokenizer_generated.h"

namespace effc::frontend {

/// Fills `normalizers` of `into` from null, one of the library's normalizers,
/// or a Sequence of them.
llvm::Error readNormalizer(llvm::StringRef file, const JsonValue *value,
                           artifact::TokenizerT &into);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_TOKENIZER_NORMALIZER_H
