// The decoder of a tokenizer.json as steps of the segment.
#ifndef EFFC_FRONTEND_TOKENIZER_DECODER_H
#define EFFC_FRONTEND_TOKENIZER_DECODER_H

#include "frontend/checkpoint/Json.h"

#include "runtime/schema/tokenizer_generated.h"

namespace effc::frontend {

/// Fills `decoders` of `into` from null (spaces between tokens), one of the
/// library's decoders, or a Sequence of them. Steps that look at whole tokens
/// are refused where tokens have been fused: they could not be streamed.
llvm::Error readDecoder(llvm::StringRef file, const JsonValue *value,
                        artifact::TokenizerT &into);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_TOKENIZER_DECODER_H
