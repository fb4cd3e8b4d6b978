// The post_processor of a tokenizer.json as ids around the text's.
#ifndef EFFC_FRONTEND_TOKENIZER_POSTPROCESSOR_H
#define EFFC_FRONTEND_TOKENIZER_POSTPROCESSOR_H

#include "frontend/tokenizer/Vocabulary.h"

namespace effc::frontend {

/// Fills `prepend` and `append` of `into` from null, ByteLevel (which concerns
/// offsets only), one of TemplateProcessing for a single sequence,
/// BertProcessing and RobertaProcessing, or a Sequence of those. Ids must be in
/// the vocabulary.
llvm::Error readPostProcessor(llvm::StringRef file, const JsonValue *value,
                              const Vocabulary &vocabulary,
                              artifact::TokenizerT &into);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_TOKENIZER_POSTPROCESSOR_H
