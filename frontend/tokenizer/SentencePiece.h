// A vocabulary of SentencePiece (tokenizer.model, spiece.model) without a
// tokenizer.json: as the text of the tokenizer.json that means the same.
//
// How the public library reads such a file says a class (transformers 5.24,
// tokenization_auto.py):
//
//   LlamaTokenizer   BPE with bytes; a space in front of a text, unless there is
//                    one; what the file says of normalizing is left aside
//   GemmaTokenizer   BPE with bytes; no space in front; left aside likewise
//   T5Tokenizer      Unigram from spiece.model, with `<extra_id_N>` behind
//   PreTrainedTokenizer, TokenizersBackend, or none
//                    BPE or Unigram as the file itself says, normalizer and all:
//                    the ids of SentencePiece
//
// `tokenizer_class` of tokenizer_config.json names the class, else the model type
// of config.json stands for one; for some model types the library reads the file
// as it says itself whatever is named. Other classes are refused by name.
#ifndef EFFC_FRONTEND_TOKENIZER_SENTENCEPIECE_H
#define EFFC_FRONTEND_TOKENIZER_SENTENCEPIECE_H

#include "frontend/tokenizer/SentencePieceModel.h"
#include "frontend/tokenizer/TokenizerSettings.h"

namespace effc::frontend {

/// The files' names, in the order in which they are looked for.
inline constexpr llvm::StringLiteral kSentencePieceFiles[] = {"tokenizer.model",
                                                              "spiece.model"};

/// `bytes` are those of the file `name`. The tokens that the class names where
/// the settings do not are added to `settings`. What of the file is left aside is
/// told by `remarks`.
llvm::Expected<std::string>
describeSentencePiece(llvm::StringRef bytes, llvm::StringRef name,
                      llvm::StringRef modelType, TokenizerSettings &settings,
                      std::vector<std::string> &remarks);

/// The same of a model that another kind of file holds, Unigram or BPE with spaces
/// in front of words, as the model itself says. `name` is that file's.
llvm::Expected<std::string> describeSentencePiece(SentencePieceModel model,
                                                  llvm::StringRef name,
                                                  TokenizerSettings &settings);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_TOKENIZER_SENTENCEPIECE_H
