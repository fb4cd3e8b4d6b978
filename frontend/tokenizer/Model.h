// The model of a tokenizer.json: how a piece of text becomes tokens.
#ifndef EFFC_FRONTEND_TOKENIZER_MODEL_H
#define EFFC_FRONTEND_TOKENIZER_MODEL_H

#include "frontend/tokenizer/Vocabulary.h"

namespace effc::frontend {

/// Reads 'model', a BPE, Unigram, WordPiece or WordLevel, into `vocabulary` and
/// the fields of `into` from `model` on, `merges` and `ignore_merges`.
///
/// Besides, a "Plamo2", which no public library has: what frontend/gguf makes of PLaMo-2's
/// and 3's tokens. Its 'vocab' is Unigram's, with null for what is no piece. Scores are
/// rounded to ten-thousandths, and those of -2000 and less are none; a character may be
/// its bytes, for -1000; of ways of equal sums the one whose first token is longer counts.
llvm::Error readModel(llvm::StringRef file, const JsonValue *value,
                      Vocabulary &vocabulary, artifact::TokenizerT &into,
                      std::vector<std::string> &remarks);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_TOKENIZER_MODEL_H
