// What lies beside a tokenizer and belongs to it: tokenizer_config.json,
// special_tokens_map.json and added_tokens.json.
#ifndef EFFC_FRONTEND_TOKENIZER_TOKENIZERSETTINGS_H
#define EFFC_FRONTEND_TOKENIZER_TOKENIZERSETTINGS_H

#include "frontend/tokenizer/ChatTemplates.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace effc::frontend {

/// A token that is added to those of the model.
struct SettingsToken {
  /// None: the next that is free.
  std::optional<int64_t> id;
  std::string content;
  bool special = true, leftStrip = false, rightStrip = false,
       singleWord = false, normalized = false;
  /// The file that has it, for messages.
  std::string file;
};

/// The library reads the three files in this order (transformers 5.24,
/// tokenization_utils_base.py): 'added_tokens_decoder' of tokenizer_config.json
/// stands for both others; where that is missing, they count.
struct TokenizerSettings {
  /// In the order in which the library adds them: those with ids first,
  /// ascending; then those that are only named as bos, eos, pad and so on.
  std::vector<SettingsToken> tokens;
  /// The named ones by key: "eos_token", "bos_token".
  std::vector<std::pair<std::string, std::string>> named;
  std::optional<bool> addPrefixSpace, addBosToken, addEosToken;
  /// Of SentencePiece's: whether each text between added tokens begins with a
  /// space of its own, and how many `<extra_id_N>` T5Tokenizer adds.
  std::optional<bool> legacy;
  std::optional<int64_t> extraIds;
  /// Whether there is a list of further special tokens; the library then adds
  /// none of those that a file of SentencePiece marks.
  bool listsSpecial = false;
  std::string tokenizerClass; // without "Fast"; empty: it does not say
  void setClass(llvm::StringRef name) {
    name.consume_back("Fast");
    tokenizerClass = name.str();
  }
  /// How tiktoken's files cut texts.
  std::optional<std::string> pattern;
  /// Whether Kimi's own code reads the vocabulary.
  bool isKimi = false;
  std::vector<ChatTemplate> chatTemplates;
  /// The files that were there.
  std::vector<std::string> files;

  /// The content of a named token; none where it is not named.
  std::optional<std::string> find(llvm::StringRef key) const;
};

/// Reads the texts of the three files, each empty where there is none. Problems
/// are errors that name file and key.
llvm::Expected<TokenizerSettings>
readTokenizerSettings(llvm::StringRef config, llvm::StringRef specialTokens,
                      llvm::StringRef addedTokens);

/// Reads the files of a directory.
llvm::Expected<TokenizerSettings>
readTokenizerSettings(llvm::StringRef directory);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_TOKENIZER_TOKENIZERSETTINGS_H
