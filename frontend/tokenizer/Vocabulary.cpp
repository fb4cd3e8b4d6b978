#include "frontend/tokenizer/Vocabulary.h"

#include "frontend/checkpoint/ConfigReader.h"
#include "frontend/checkpoint/Refusal.h"
#include "frontend/tokenizer/ByteAlphabet.h"

#include "llvm/ADT/StringSet.h"

using namespace effc;
using namespace effc::frontend;

/// The most that the runtime loads.
static constexpr size_t kMostContentBytes = 65536;

bool Vocabulary::hasAllBytes() const {
  for (int byte = 0; byte < 256; ++byte)
    if (!ids.contains(getByteCharacter(byte)))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

llvm::Error Vocabulary::readModel(const JsonValue *value) {
  const JsonObject *model = value ? value->getObject() : nullptr;
  if (!model)
    return refuse(file + ": expects 'model' to be an object, but got " +
                  (value ? value->describe() : "nothing"));
  // Old files leave the type out; only a BPE has merges.
  if (const JsonValue *type = model->find("type"))
    if (!type->getString() || *type->getString() != "BPE")
      return refuse(
          file + ": model " +
          (type->getString() ? quote(*type->getString()) : type->describe()) +
          " is not supported; supported: BPE");
  const JsonValue *vocabulary = model->find("vocab");
  if (!vocabulary || !vocabulary->getObject())
    return refuse(file + ": model: expects 'vocab' to be an object, but got " +
                  (vocabulary ? vocabulary->describe() : "nothing"));
  const JsonValue *merges = model->find("merges");
  if (!merges || !merges->getArray())
    return refuse(file + ": model: expects 'merges' to be an array, but got " +
                  (merges ? merges->describe() : "nothing"));
  if (llvm::Error error = readTokens(*vocabulary->getObject()))
    return error;
  if (llvm::Error error = readMerges(*merges->getArray()))
    return error;
  return checkOptions(*model);
}

llvm::Error Vocabulary::readTokens(const JsonObject &vocabulary) {
  if (vocabulary.getMembers().empty())
    return refuse(file +
                  ": expects a vocabulary of at least one token, but got "
                  "none");
  for (const JsonMember &member : vocabulary.getMembers()) {
    std::optional<int64_t> id = member.value.getInteger();
    if (!id || *id < 0 || *id >= size)
      return refuse(file + ": expects the id of token " + quote(member.key) +
                    " to be an integer in 0.." + llvm::Twine(size - 1) +
                    ", but got " + member.value.describe());
    auto [at, isNew] = names.emplace(*id, member.key);
    if (!isNew)
      return refuse(file + ": tokens " + quote(at->second) + " and " +
                    quote(member.key) + " both have id " + llvm::Twine(*id));
    ids[member.key] = *id;
  }
  return llvm::Error::success();
}

/// The two halves of a merge: "a b" or ["a", "b"].
static std::optional<std::pair<llvm::StringRef, llvm::StringRef>>
splitMerge(const JsonValue &value) {
  if (const std::string *text = value.getString()) {
    auto halves = llvm::StringRef(*text).split(' ');
    if (!llvm::StringRef(*text).contains(' ') || halves.second.contains(' '))
      return std::nullopt;
    return halves;
  }
  const JsonArray *array = value.getArray();
  if (!array || array->size() != 2 || !(*array)[0].getString() ||
      !(*array)[1].getString())
    return std::nullopt;
  return std::pair<llvm::StringRef, llvm::StringRef>(*(*array)[0].getString(),
                                                     *(*array)[1].getString());
}

llvm::Error Vocabulary::readMerges(const JsonArray &array) {
  // Of a pair that occurs twice the last rank counts, as in the library.
  std::map<std::pair<int32_t, int32_t>, size_t> rankOf;
  std::vector<artifact::Merge> all;
  for (size_t rank = 0; rank < array.size(); ++rank) {
    const std::string *line = array[rank].getString();
    if (line && llvm::StringRef(*line).starts_with("#version"))
      continue;
    auto halves = splitMerge(array[rank]);
    std::string where = file + ": merge " + std::to_string(rank);
    if (!halves)
      return refuse(where + ": expects two tokens, but got " +
                    array[rank].describe());
    std::string merged = (halves->first + halves->second).str();
    int32_t found[3];
    llvm::StringRef parts[3] = {halves->first, halves->second, merged};
    for (int i = 0; i < 3; ++i) {
      auto at = ids.find(parts[i]);
      if (at == ids.end())
        return refuse(where + (i < 2 ? ": token " : ": its result ") +
                      quote(parts[i]) + " is not in the vocabulary");
      found[i] = at->second;
    }
    rankOf[{found[0], found[1]}] = all.size();
    all.emplace_back(found[0], found[1], found[2]);
  }
  for (size_t rank = 0; rank < all.size(); ++rank)
    if (rankOf[{all[rank].left(), all[rank].right()}] == rank)
      merges.push_back(all[rank]);
  return llvm::Error::success();
}

/// The options beside vocabulary and merges: those that would change ids.
llvm::Error Vocabulary::checkOptions(const JsonObject &model) {
  ConfigReader reader(file + ": model", model);
  reader.ignore({"type", "vocab", "merges"});
  if (const JsonValue *dropout = reader.get("dropout"))
    if (!dropout->isNull() && dropout->getNumber() != 0.0)
      reader.reportMismatch("dropout", "null or 0", *dropout);
  for (llvm::StringRef key :
       {"continuing_subword_prefix", "end_of_word_suffix"})
    if (const JsonValue *affix = reader.get(key))
      if (!affix->isNull() &&
          (!affix->getString() || !affix->getString()->empty()))
        reader.reportMismatch(key, "null or empty", *affix);
  ignoreMerges = reader.getBoolean("ignore_merges", false);
  // What these say of characters without a token cannot happen where every byte
  // has one.
  bool needsBytes = reader.getBoolean("byte_fallback", false);
  reader.getBoolean("fuse_unk", false);
  if (const JsonValue *unknown = reader.get("unk_token"))
    needsBytes |= !unknown->isNull();
  if (needsBytes && !hasAllBytes())
    reader.report("'unk_token' and 'byte_fallback' are not supported where the "
                  "vocabulary lacks a byte");
  return reader.finish();
}

//===----------------------------------------------------------------------===//
// Added tokens
//===----------------------------------------------------------------------===//

llvm::Error Vocabulary::readAddedTokens(const JsonValue *value) {
  if (!value || value->isNull())
    return llvm::Error::success();
  const JsonArray *tokens = value->getArray();
  if (!tokens)
    return refuse(file + ": expects 'added_tokens' to be an array, but got " +
                  value->describe());
  for (size_t i = 0; i < tokens->size(); ++i)
    if (llvm::Error error = readAddedToken((*tokens)[i], i))
      return error;
  llvm::StringSet<> contents;
  for (const artifact::AddedTokenT &token : added)
    if (!contents.insert(token.content).second)
      return refuse(file + ": added token " + quote(token.content) +
                    " occurs twice");
  return llvm::Error::success();
}

llvm::Error Vocabulary::readAddedToken(const JsonValue &value, size_t index) {
  std::string where = file + ": added token " + std::to_string(index);
  if (!value.getObject())
    return refuse(where + ": expects an object, but got " + value.describe());
  ConfigReader reader(where, *value.getObject());
  artifact::AddedTokenT token;
  token.id = reader.requireInteger("id", 0, size - 1);
  token.special = reader.getBoolean("special", false);
  token.left_strip = reader.getBoolean("lstrip", false);
  token.right_strip = reader.getBoolean("rstrip", false);
  token.single_word = reader.getBoolean("single_word", false);
  token.normalized = reader.getBoolean("normalized", false);
  const std::string *content = reader.getString("content");
  if (!content || content->empty() || content->size() > kMostContentBytes)
    reader.report("expects 'content' to be a string of 1.." +
                  llvm::Twine(kMostContentBytes) + " bytes");
  if (llvm::Error error = reader.finish())
    return error;
  token.content = *content;

  auto known = ids.find(token.content);
  if (known != ids.end() && known->second != token.id)
    return refuse(where + " " + quote(token.content) + " has id " +
                  llvm::Twine(token.id) + ", but the vocabulary gives it " +
                  llvm::Twine(known->second));
  auto [at, isNew] = names.emplace(token.id, token.content);
  if (!isNew && at->second != token.content)
    return refuse(where + " " + quote(token.content) + " has id " +
                  llvm::Twine(token.id) + ", which is that of token " +
                  quote(at->second));
  added.push_back(std::move(token));
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// The segment
//===----------------------------------------------------------------------===//

llvm::Error Vocabulary::write(artifact::TokenizerT &into) const {
  llvm::StringSet<> addedContents;
  for (const artifact::AddedTokenT &token : added)
    addedContents.insert(token.content);
  // Ids without a token have no bytes.
  int32_t last = names.rbegin()->first;
  for (int32_t id = 0; id <= last; ++id)
    into.tokens.push_back(std::make_unique<artifact::BytesT>());
  for (const auto &[id, name] : names) {
    auto bytes = getBytesOfCharacters(name);
    // As the library decodes them: a token with a character that stands for no
    // byte is text.
    if (!bytes && ignoreMerges && !addedContents.contains(name))
      return refuse(file + ": token " + quote(name) +
                    " is not byte-level, which 'ignore_merges' needs");
    if (!bytes)
      bytes.emplace(name.begin(), name.end());
    into.tokens[id]->data = std::move(*bytes);
  }
  for (int byte = 0; byte < 256; ++byte) {
    auto at = ids.find(getByteCharacter(byte));
    into.byte_tokens.push_back(at == ids.end() ? -1 : at->second);
  }
  into.merges = merges;
  for (const artifact::AddedTokenT &token : added)
    into.added_tokens.push_back(std::make_unique<artifact::AddedTokenT>(token));
  into.ignore_merges = ignoreMerges;
  return llvm::Error::success();
}
