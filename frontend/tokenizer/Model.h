// The model of a tokenizer.json: how a piece of text becomes tokens.
#ifndef EFFC_FRONTEND_TOKENIZER_MODEL_H
#define EFFC_FRONTEND_TOKENIZER_MODEL_H

#include "frontend/tokenizer/Vocabulary.h"

namespace effc::frontend {

/// Reads 'model', a BPE, Unigram, WordPiece or WordLevel, into `vocabulary` and
/// the fields of `into` from `model` on, `merges` and `ignore_merges`.
llvm::Error readModel(llvm::StringRef file, const JsonValue *value,
                      Vocabulary &vocabulary, artifact::TokenizerT &into,
                      std::vector<std::string> &remarks);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_TOKENIZER_MODEL_H
