// vocab.json and merges.txt, which byte-level tokenizers were published as before
// there was a tokenizer.json: as the text of the tokenizer.json that means the
// same.
#ifndef EFFC_FRONTEND_TOKENIZER_MERGEFILES_H
#define EFFC_FRONTEND_TOKENIZER_MERGEFILES_H

#include "frontend/tokenizer/TokenizerSettings.h"

namespace effc::frontend {

inline constexpr llvm::StringLiteral kVocabularyFile = "vocab.json";
inline constexpr llvm::StringLiteral kMergesFile = "merges.txt";

/// The files hold tokens and merges alone. How a text is cut before them says
/// the class that reads them: GPT2Tokenizer or Qwen2Tokenizer (transformers
/// 5.24), which 'tokenizer_class' of `settings` names, else `modelType` of
/// config.json stands for. Other classes are refused by name. The names that the
/// class gives to special tokens are added to `settings`.
llvm::Expected<std::string> describeMerges(llvm::StringRef vocabulary,
                                           llvm::StringRef merges,
                                           llvm::StringRef modelType,
                                           TokenizerSettings &settings);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_TOKENIZER_MERGEFILES_H
