// Vocabularies that come without a tokenizer.json, in files of their own kinds:
// each as the text of the tokenizer.json that means the same.
//
//   qwen.tiktoken, tokenizer.model,
//   tiktoken.model                   tiktoken's ranks
//   rwkv_vocab_v20230424.txt         RWKV's World vocabulary
//
// Tokens that stand for no text are those of `added_tokens_decoder` in
// tokenizer_config.json, which lies beside them.
#ifndef EFFC_FRONTEND_TOKENIZER_VOCABULARYFILE_H
#define EFFC_FRONTEND_TOKENIZER_VOCABULARYFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace effc::frontend {

/// How Kimi's own code cuts texts. Its classes are letters and marks that are no Han, written there as
/// [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]: here by what else there is.
inline constexpr llvm::StringLiteral kKimiPattern =
    R"([\p{Han}]+|[^\r\n\p{L}\p{N}]?[^\p{Han}\p{Ll}\p{N}\p{P}\p{S}\p{Z}\p{C}]*[^\p{Han}\p{Lu}\p{Lt}\p{N}\p{P}\p{S}\p{Z}\p{C}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[^\p{Han}\p{Ll}\p{N}\p{P}\p{S}\p{Z}\p{C}]+[^\p{Han}\p{Lu}\p{Lt}\p{N}\p{P}\p{S}\p{Z}\p{C}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

/// Whether a text is tiktoken's: its first line is base 64 and a number.
bool isTiktoken(llvm::StringRef text);

/// tiktoken's file: on each line a token's bytes in base 64 and its rank, which
/// is its id. The two neighbours whose sum is the token of the lowest rank are
/// merged first; a piece that is a token is that token. `settings` is the text
/// of tokenizer_config.json, or empty; its `pat_str` cuts texts into pieces.
/// Where its `auto_map` names Kimi's code (tokenization_kimi.py), texts are cut
/// by that code's pattern, and the 256 ids behind the ranks are tokens too.
llvm::Expected<std::string> describeTiktoken(llvm::StringRef text,
                                             llvm::StringRef name,
                                             llvm::StringRef settings,
                                             std::vector<std::string> &remarks);

/// RWKV's file: on each line an id, a token as Python writes a string or bytes,
/// and how many bytes it has. From left to right the longest token is taken.
llvm::Expected<std::string> describeWorld(llvm::StringRef text,
                                          llvm::StringRef name,
                                          llvm::StringRef settings);

/// The name of such a file in a directory; empty where there is none.
llvm::Expected<std::string> findVocabularyFile(llvm::StringRef directory);

/// The tokenizer.json that such a file of a directory means.
llvm::Expected<std::string>
readVocabularyFile(llvm::StringRef directory, llvm::StringRef name,
                   std::vector<std::string> &remarks);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_TOKENIZER_VOCABULARYFILE_H
