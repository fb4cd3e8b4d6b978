// Reads a tokenizer's keys and writes the tokenizer.json that means the same: what all
// kinds have is in Tokenizer.cpp, kinds of byte-pair encoding in BytePairs.cpp, and those
// that sum scores in ScoredPieces.cpp.
#ifndef EFFC_FRONTEND_GGUF_TOKENIZERDESCRIBER_H
#define EFFC_FRONTEND_GGUF_TOKENIZERDESCRIBER_H

#include "frontend/gguf/Tokenizer.h"
#include "frontend/tokenizer/SentencePieceModel.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

namespace effc::frontend {

class GgufTokenizerDescriber {
public:
  GgufTokenizerDescriber(GgufMetadata &keys, std::vector<std::string> &remarks)
      : keys(keys), remarks(remarks) {}

  llvm::Expected<std::optional<GgufTokenizer>> describe();

private:
  /// With the numbers of `tokenizer.ggml.token_type`, which are SentencePiece's.
  using TokenType = PieceType;

  struct Kind {
    llvm::StringLiteral name;
    llvm::Expected<std::string> (GgufTokenizerDescriber::*describe)();
    /// Ids where the file gives none; -1: none.
    int64_t bos, eos, unknown;
    bool addsBos, addsEos;
    bool hasPhantomSpaces = false; ///< of WordPiece.h
  };
  static llvm::ArrayRef<Kind> getKinds();

  void readTokens(const Kind &kind);
  void indexTokens();
  void readNamed(const Kind &kind);
  void readEnds();
  void readChatTemplates();
  void refuseUnread();

  llvm::Expected<std::string> describeLongestMatch();
  llvm::Expected<std::string> describeWordPieces();

  // Of BytePairs.cpp.
  llvm::Expected<std::string> describeByteLevel();
  llvm::Expected<std::string> describeSentencePieces();
  llvm::Expected<std::string> describeGemma4();
  llvm::Expected<std::string> describeMergedCharacters();
  llvm::Expected<std::string>
  describeCharacterPairs(llvm::json::Array merges,
                         std::optional<std::string> unknown, bool putsSpace);
  const std::vector<std::string> *readMergeLines(bool required);
  llvm::Expected<llvm::json::Array>
  splitMergeLines(llvm::ArrayRef<std::string> lines) const;
  llvm::json::Array listMergesByScore(llvm::ArrayRef<double> scores) const;
  llvm::json::Array listMergesByRank() const;

  // Of ScoredPieces.cpp.
  llvm::Expected<std::string> describeUnigram();
  llvm::Expected<std::string> describePlamo2();
  std::vector<double> readScores();

  /// What stands for the unknown; where there is none, a problem of the keys.
  std::optional<std::string> requireUnknown();
  llvm::json::Array describeAdded() const;
  llvm::Expected<llvm::json::Value> describeAround();
  llvm::json::Object describeVocabulary() const;
  static std::string writeJson(llvm::json::Object file);

  const std::string &text(int64_t id) const { return (*tokens)[size_t(id)]; }
  std::string describeToken(size_t id) const;

  GgufMetadata &keys;
  std::vector<std::string> &remarks;
  const std::vector<std::string> *tokens = nullptr;
  std::vector<std::string> ownTokens; ///< where the file's are others
  std::vector<TokenType> types;
  llvm::StringMap<int64_t> idOf;
  GgufTokenizer result;
};

} // namespace effc::frontend

#endif // EFFC_FRONTEND_GGUF_TOKENIZERDESCRIBER_H
