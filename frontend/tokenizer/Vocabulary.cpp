#include "frontend/tokenizer/Vocabulary.h"

#include "frontend/checkpoint/ConfigReader.h"
#include "frontend/checkpoint/Refusal.h"
#include "frontend/tokenizer/ByteAlphabet.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;

using artifact::kMostAddedBytes;
using artifact::kMostTokenBytes;

//===----------------------------------------------------------------------===//
// The model's tokens
//===----------------------------------------------------------------------===//

llvm::Error Vocabulary::addToken(llvm::StringRef text, int64_t id) {
  if (text.size() > kMostTokenBytes)
    return refuse(file + ": token " + llvm::Twine(id) + " has " +
                  llvm::Twine(text.size()) + " bytes, but at most " +
                  llvm::Twine(kMostTokenBytes) + " are possible");
  auto [at, isNew] = names.emplace(id, text.str());
  if (!isNew)
    return refuse(file + ": tokens " + quote(at->second) + " and " +
                  quote(text) + " both have id " + llvm::Twine(id));
  // Of two pieces with one text the library finds the last.
  ids[text] = id;
  ++modelTokens;
  nextId = modelTokens;
  return llvm::Error::success();
}

llvm::Error Vocabulary::readTokens(const JsonValue *value) {
  if (!value || !value->getObject())
    return refuse(file + ": model: expects 'vocab' to be an object, but got " +
                  (value ? value->describe() : "nothing"));
  if (value->getObject()->getMembers().empty())
    return refuse(file +
                  ": expects a vocabulary of at least one token, but got "
                  "none");
  tokensOfFile += int64_t(value->getObject()->getMembers().size());
  for (const JsonMember &member : value->getObject()->getMembers()) {
    std::optional<int64_t> id = member.value.getInteger();
    if (!id || *id < 0 || *id >= limit())
      return refuse(file + ": expects the id of token " + quote(member.key) +
                    " to be an integer in 0.." + llvm::Twine(limit() - 1) +
                    ", but got " + member.value.describe());
    if (llvm::Error error = addToken(member.key, *id))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error Vocabulary::readPieces(const JsonValue *value,
                                   std::vector<double> &scores,
                                   bool mayBeNone) {
  const JsonArray *pieces = value ? value->getArray() : nullptr;
  if (!pieces || pieces->empty())
    return refuse(file +
                  ": model: expects 'vocab' to be an array of at least "
                  "one piece, but got " +
                  (value ? value->describe() : "nothing"));
  tokensOfFile += int64_t(pieces->size());
  for (size_t id = 0; id < pieces->size(); ++id) {
    const JsonArray *pair = (*pieces)[id].getArray();
    bool isNone = mayBeNone && pair && pair->size() == 2 && (*pair)[1].isNull();
    bool isPair = pair && pair->size() == 2 && (*pair)[0].getString() &&
                  (isNone || (*pair)[1].getNumber());
    if (!isPair)
      return refuse(file + ": piece " + llvm::Twine(id) +
                    ": expects a token and its score, but got " +
                    (*pieces)[id].describe());
    double score = isNone ? NAN : *(*pair)[1].getNumber();
    if (!isNone && !std::isfinite(score))
      return refuse(file + ": piece " + llvm::Twine(id) + " " +
                    quote(*(*pair)[0].getString()) +
                    ": expects a finite score, but got " +
                    (*pair)[1].describe());
    if (llvm::Error error = addToken(*(*pair)[0].getString(), id))
      return error;
    scores.push_back(score);
  }
  return llvm::Error::success();
}

int32_t Vocabulary::find(llvm::StringRef text) const {
  auto at = ids.find(text);
  return at == ids.end() ? -1 : at->second;
}

std::vector<int32_t> Vocabulary::listPast() const {
  std::vector<int32_t> past;
  for (auto at = names.lower_bound(int32_t(size)); at != names.end(); ++at)
    past.push_back(at->first);
  return past;
}

std::vector<int32_t> Vocabulary::getByteCharacters() const {
  std::vector<int32_t> found;
  for (int byte = 0; byte < 256; ++byte)
    found.push_back(find(getByteCharacter(byte)));
  return found;
}

std::vector<int32_t> Vocabulary::getByteFallback() const {
  std::vector<int32_t> found;
  for (uint8_t byte = 0;; ++byte) {
    found.push_back(find("<0x" + llvm::toHex(llvm::ArrayRef(byte)) + ">"));
    if (byte == 255)
      return found;
  }
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
  tokensOfFile += int64_t(tokens->size());
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
  token.id = reader.requireInteger("id", 0, limit() - 1);
  token.special = reader.getBoolean("special", false);
  token.left_strip = reader.getBoolean("lstrip", false);
  token.right_strip = reader.getBoolean("rstrip", false);
  token.single_word = reader.getBoolean("single_word", false);
  token.normalized = reader.getBoolean("normalized", false);
  const std::string *content = reader.getString("content");
  if (!content || content->empty() || content->size() > kMostAddedBytes)
    reader.report("expects 'content' to be a string of 1.." +
                  llvm::Twine(kMostAddedBytes) + " bytes");
  if (llvm::Error error = reader.finish())
    return error;
  token.content = *content;
  return addToken(where, std::move(token));
}

/// `where` names the token's place in a file.
llvm::Error Vocabulary::addToken(const std::string &where,
                                 artifact::AddedTokenT token) {
  int32_t known = find(token.content);
  if (known >= 0 && known != token.id)
    return refuse(where + " " + quote(token.content) + " has id " +
                  llvm::Twine(token.id) + ", but the vocabulary gives it " +
                  llvm::Twine(known));
  if (known < 0) {
    auto [at, isNew] = names.emplace(token.id, token.content);
    if (!isNew && at->second != token.content)
      return refuse(where + " " + quote(token.content) + " has id " +
                    llvm::Twine(token.id) + ", which is that of token " +
                    quote(at->second));
    // The library does not read the id: it counts.
    if (isNew && token.id != nextId)
      return refuse(where + " " + quote(token.content) + " has id " +
                    llvm::Twine(token.id) + ", but the library numbers it " +
                    llvm::Twine(nextId));
    nextId += isNew;
    addedOnly.insert(token.id);
  }
  places[token.content] = added.size();
  added.push_back(std::move(token));
  return llvm::Error::success();
}

static bool hasSameProperties(const artifact::AddedTokenT &a,
                              const artifact::AddedTokenT &b) {
  auto propertiesOf = [](const artifact::AddedTokenT &token) {
    return std::tuple(token.special, token.left_strip, token.right_strip,
                      token.single_word, token.normalized);
  };
  return propertiesOf(a) == propertiesOf(b);
}

llvm::Error Vocabulary::addSettings(const TokenizerSettings &settings,
                                    std::vector<std::string> &remarks) {
  tokensOfFile += static_cast<int64_t>(settings.tokens.size());
  for (const SettingsToken &given : settings.tokens) {
    std::string where = given.file + ": token";
    artifact::AddedTokenT token;
    token.content = given.content;
    token.special = given.special;
    token.left_strip = given.leftStrip;
    token.right_strip = given.rightStrip;
    token.single_word = given.singleWord;
    token.normalized = given.normalized;
    auto place = places.find(token.content);
    // A token that is only named is there already.
    if (place != places.end() && !given.id)
      continue;
    if (place != places.end()) {
      artifact::AddedTokenT *known = &added[place->second];
      if (known->id != *given.id)
        return refuse(where + " " + quote(token.content) + " has id " +
                      llvm::Twine(*given.id) + ", but " + file + " gives it " +
                      llvm::Twine(known->id));
      token.id = known->id;
      if (!hasSameProperties(token, *known))
        remarks.push_back(where + " " + quote(token.content) +
                          " has other properties than in " + file +
                          ": they count, as in the library");
      *known = std::move(token);
      continue;
    }
    int32_t inModel = find(token.content);
    int64_t id = given.id ? *given.id : inModel >= 0 ? inModel : nextId;
    if (token.content.size() > kMostAddedBytes)
      return refuse(where + " " + quote(token.content) + " has " +
                    llvm::Twine(token.content.size()) + " bytes, but at most " +
                    llvm::Twine(kMostAddedBytes) + " are possible");
    if (id >= limit())
      return refuse(where + " " + quote(token.content) + " has id " +
                    llvm::Twine(id) + ", but the model's vocabulary has " +
                    llvm::Twine(size));
    token.id = static_cast<int32_t>(id);
    remarks.push_back(where + " " + quote(token.content) +
                      " is added with id " + std::to_string(id) + ": " + file +
                      " does not have it");
    if (llvm::Error error = addToken(where, std::move(token)))
      return error;
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// The segment
//===----------------------------------------------------------------------===//

void Vocabulary::write(bool asBytes, artifact::TokenizerT &into) const {
  // Ids without a token have no data.
  int32_t last = names.rbegin()->first;
  for (int32_t id = 0; id <= last; ++id)
    into.tokens.push_back(std::make_unique<artifact::BytesT>());
  for (const auto &[id, name] : names) {
    std::optional<std::vector<uint8_t>> bytes;
    if (asBytes)
      bytes = getBytesOfCharacters(name);
    if (addedOnly.count(id) || (asBytes && !bytes))
      into.outside.push_back(id);
    if (!bytes)
      bytes.emplace(name.begin(), name.end());
    into.tokens[id]->data = std::move(*bytes);
  }
  for (const artifact::AddedTokenT &token : added)
    into.added_tokens.push_back(std::make_unique<artifact::AddedTokenT>(token));
}
