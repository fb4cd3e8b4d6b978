// The model of a tokenizer.json: tokens, their ids and the merges, and the
// tokens that were added to them.
#ifndef EFFC_FRONTEND_TOKENIZER_VOCABULARY_H
#define EFFC_FRONTEND_TOKENIZER_VOCABULARY_H

#include "frontend/checkpoint/Json.h"

#include "runtime/schema/tokenizer_generated.h"

#include "llvm/ADT/StringMap.h"

#include <map>

namespace effc::frontend {

class Vocabulary {
public:
  /// Ids are below `size`, the vocabulary of the language model.
  Vocabulary(llvm::StringRef file, int64_t size) : file(file), size(size) {}

  /// Reads 'model', a byte-level BPE.
  llvm::Error readModel(const JsonValue *value);
  /// Reads 'added_tokens'; after readModel().
  llvm::Error readAddedTokens(const JsonValue *value);
  bool has(int64_t id) const {
    return id >= 0 && id < size && names.count(int32_t(id));
  }

  /// Fills tokens, byte_tokens, merges, added_tokens and ignore_merges.
  llvm::Error write(artifact::TokenizerT &into) const;

private:
  llvm::Error readTokens(const JsonObject &vocabulary);
  llvm::Error readMerges(const JsonArray &merges);
  llvm::Error readAddedToken(const JsonValue &value, size_t index);
  llvm::Error checkOptions(const JsonObject &model);
  bool hasAllBytes() const;

  std::string file;
  int64_t size;
  llvm::StringMap<int32_t> ids;
  /// By id; added tokens too.
  std::map<int32_t, std::string> names;
  std::vector<artifact::Merge> merges;
  std::vector<artifact::AddedTokenT> added;
  bool ignoreMerges = false;
};

} // namespace effc::frontend

#endif // EFFC_FRONTEND_TOKENIZER_VOCABULARY_H
