// Which ids there are, and what text each stands for: the tokens of a
// tokenizer.json's model and those that were added to them.
#ifndef EFFC_FRONTEND_TOKENIZER_VOCABULARY_H
#define EFFC_FRONTEND_TOKENIZER_VOCABULARY_H

#include "frontend/checkpoint/Json.h"
#include "frontend/tokenizer/TokenizerSettings.h"

#include "runtime/schema/TokenizerLimits.h"
#include "runtime/schema/tokenizer_generated.h"

#include "llvm/ADT/StringMap.h"

#include <algorithm>
#include <map>
#include <set>

namespace effc::frontend {

class Vocabulary {
public:
  /// `size`: the vocabulary of the language model. Ids may lie past it, each
  /// token of the file one further: the runtime refuses such a token where it
  /// is given to the model.
  Vocabulary(llvm::StringRef file, int64_t size) : file(file), size(size) {}

  /// Reads {token: id, ...}.
  llvm::Error readTokens(const JsonValue *value);
  /// Reads [[token, score], ...], whose places are the ids. Scores are finite, or
  /// null where `mayBeNone`: NaN.
  llvm::Error readPieces(const JsonValue *value, std::vector<double> &scores,
                         bool mayBeNone = false);
  /// The ids past the language model's vocabulary, in ascending order.
  std::vector<int32_t> listPast() const;
  /// Reads 'added_tokens'; after the model's.
  llvm::Error readAddedTokens(const JsonValue *value);
  /// Adds the tokens that lie beside the tokenizer, as the library does: one
  /// that is there gets their properties; others are numbered on. What that
  /// changed is named in `remarks`. Last.
  llvm::Error addSettings(const TokenizerSettings &settings,
                          std::vector<std::string> &remarks);

  bool has(int64_t id) const {
    return id >= 0 && id < limit() && names.count(int32_t(id));
  }
  /// How many ids have a token.
  size_t count() const { return names.size(); }
  /// The model's token of this text, or -1.
  int32_t find(llvm::StringRef text) const;
  /// The tokens of single bytes in the alphabet of byte-level vocabularies, -1
  /// where there is none.
  std::vector<int32_t> getByteCharacters() const;
  /// The tokens "<0x00>" to "<0xFF>", -1 where there is none.
  std::vector<int32_t> getByteFallback() const;

  /// Fills tokens, outside and added_tokens. `asBytes`: texts that are written
  /// in the alphabet become the bytes they stand for, and others stand for
  /// themselves, but no text becomes them.
  void write(bool asBytes, artifact::TokenizerT &into) const;

private:
  /// No id is as large: ids without a token take room too.
  int64_t limit() const {
    return std::min<int64_t>(size + tokensOfFile, artifact::kMostTokens);
  }
  llvm::Error addToken(llvm::StringRef text, int64_t id);
  llvm::Error readAddedToken(const JsonValue &value, size_t index);
  llvm::Error addToken(const std::string &where, artifact::AddedTokenT token);

  std::string file;
  int64_t size;
  int64_t tokensOfFile = 0;
  /// The model's.
  llvm::StringMap<int32_t> ids;
  int64_t modelTokens = 0;
  /// By id; added tokens too.
  std::map<int32_t, std::string> names;
  std::set<int32_t> addedOnly;
  /// What the library numbers the next added token with.
  int64_t nextId = 0;
  std::vector<artifact::AddedTokenT> added;
  /// In `added`, by content.
  llvm::StringMap<size_t> places;
};

} // namespace effc::frontend

#endif // EFFC_FRONTEND_TOKENIZER_VOCABULARY_H
