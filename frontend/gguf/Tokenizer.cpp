#include "frontend/gguf/Tokenizer.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/gguf/EndTokens.h"
#include "frontend/gguf/EscapedBytes.h"
#include "frontend/gguf/TokenizerDescriber.h"
#include "frontend/gguf/WordPiece.h"
#include "frontend/tokenizer/TextEnds.h"
#include "frontend/tokenizer/VocabularyFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace effc::frontend;
using llvm::StringLiteral;
using llvm::StringRef;
using llvm::Twine;
namespace json = llvm::json;

/// What of a file says nothing of ids, or is read elsewhere. `--tokenizer` is the way
/// on where another key does.
static constexpr StringRef kIgnored[] = {
    "tokenizer.ggml.pre", // asked for where it counts
    "tokenizer.ggml.scores",
    "tokenizer.ggml.merges",
    "tokenizer.ggml.padding_token_id",
    "tokenizer.ggml.seperator_token_id", // spelt so
    "tokenizer.ggml.separator_token_id",
    "tokenizer.ggml.cls_token_id",
    "tokenizer.ggml.mask_token_id",
    "tokenizer.ggml.add_sep_token",
    "tokenizer.ggml.add_space_prefix",
    "tokenizer.ggml.remove_extra_whitespaces",
    "tokenizer.ggml.token_type_count",
    "tokenizer.ggml.prefix_token_id",
    "tokenizer.ggml.suffix_token_id",
    "tokenizer.ggml.middle_token_id"};

llvm::ArrayRef<GgufTokenizerDescriber::Kind>
GgufTokenizerDescriber::getKinds() {
  using Self = GgufTokenizerDescriber;
  static constexpr Kind kKinds[] = {
      {"gpt2", &Self::describeByteLevel, -1, -1, -1, false, false},
      {"llama", &Self::describeSentencePieces, 1, 2, 0, true, false},
      {"t5", &Self::describeUnigram, -1, 1, 2, false, true},
      {"rwkv", &Self::describeLongestMatch, -1, -1, -1, false, false},
      {"bert", &Self::describeWordPieces, 101, -1, 100, true, false, true},
      {"gemma4", &Self::describeGemma4, -1, -1, -1, true, false},
      {"plamo2", &Self::describePlamo2, 1, 2, 0, true, false},
  };
  return kKinds;
}

//===----------------------------------------------------------------------===//
// What all kinds have
//===----------------------------------------------------------------------===//

std::string GgufTokenizerDescriber::describeToken(size_t id) const {
  return "token " + std::to_string(id) + " " + quote((*tokens)[id]);
}

void GgufTokenizerDescriber::indexTokens() {
  for (const auto &[id, token] : llvm::enumerate(*tokens)) {
    auto [known, isNew] = idOf.try_emplace(token, int64_t(id));
    if (!isNew)
      return keys.report(describeToken(id) + " is token " +
                         Twine(known->second) + " as well");
  }
}

void GgufTokenizerDescriber::readTokens(const Kind &kind) {
  constexpr StringLiteral kTokens = "tokenizer.ggml.tokens",
                          kTypes = "tokenizer.ggml.token_type";
  tokens = keys.getStrings(kTokens);
  if (!tokens) {
    if (!keys.hasProblem())
      keys.report("lacks key " + quote(kTokens));
    return;
  }
  for (const auto &[id, token] : llvm::enumerate(*tokens)) {
    if (token.empty())
      return keys.report("token " + Twine(id) + " is empty");
    if (!json::isUTF8(token))
      return keys.report(describeToken(id) + " is not UTF-8");
  }
  types.assign(tokens->size(), TokenType::Normal);
  auto numbers = keys.getIntegers(kTypes, 1, 6, tokens->size());
  if (!numbers)
    numbers.emplace();
  for (auto [id, number] : llvm::enumerate(*numbers)) {
    types[id] = TokenType(number);
    StringRef digits = (*tokens)[id];
    if (types[id] == TokenType::Byte &&
        !(digits.consume_front("<0x") && digits.consume_back(">") &&
          digits.size() == 2 && llvm::all_of(digits, llvm::isHexDigit)))
      return keys.report("expects " + describeToken(id) +
                         " of type byte to be called <0xNN>");
  }
  if (kind.hasPhantomSpaces) {
    ownTokens = withoutPhantomSpaces(*tokens, types);
    tokens = &ownTokens;
  }
  indexTokens();
}

void GgufTokenizerDescriber::readNamed(const Kind &kind) {
  auto most = int64_t(tokens->size()) - 1;
  struct Named {
    StringLiteral key, name;
    int64_t usual;
  };
  for (auto [key, name, usual] :
       {Named{"tokenizer.ggml.bos_token_id", "bos_token", kind.bos},
        {"tokenizer.ggml.eos_token_id", "eos_token", kind.eos},
        {"tokenizer.ggml.unknown_token_id", "unk_token", kind.unknown}}) {
    std::optional<int64_t> id = keys.getInteger(key, 0, most);
    if (!id && usual >= 0 && usual <= most)
      id = usual;
    if (id)
      result.settings.named.push_back({name.str(), text(*id)});
  }
  for (StringRef key :
       {"tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id",
        "tokenizer.ggml.padding_token_id"})
    (void)keys.getInteger(key, 0, most);
  result.settings.addBosToken =
      keys.getBoolean("tokenizer.ggml.add_bos_token").value_or(kind.addsBos);
  result.settings.addEosToken =
      keys.getBoolean("tokenizer.ggml.add_eos_token").value_or(kind.addsEos);
}

void GgufTokenizerDescriber::readEnds() {
  result.ends = findEndTokens([&](StringRef name) -> std::optional<int32_t> {
    auto known = idOf.find(name);
    if (known == idOf.end() ||
        types[size_t(known->second)] != TokenType::Control)
      return std::nullopt;
    return int32_t(known->second);
  });
}

/// `tokenizer.chat_template`, and `tokenizer.chat_template.NAME` of further ones.
void GgufTokenizerDescriber::readChatTemplates() {
  constexpr StringLiteral kKey = "tokenizer.chat_template";
  keys.ignore(StringRef("tokenizer.chat_templates")); // the names
  for (StringRef key : keys.getUnread(kKey)) {
    StringRef name = key.drop_front(kKey.size());
    if (!name.empty() && !name.consume_front("."))
      continue;
    if (const std::string *source = keys.getString(key))
      result.settings.chatTemplates.push_back(
          {name.empty() ? kDefaultTemplate.str() : name.str(), *source});
  }
}

/// What a key that nobody knows says of ids is not known either.
void GgufTokenizerDescriber::refuseUnread() {
  keys.ignore(kIgnored);
  for (StringRef key : keys.getUnread("tokenizer.")) {
    if (key == "tokenizer.ggml.suppress_tokens")
      remarks.push_back(keys.getFile() +
                        ": 'tokenizer.ggml.suppress_tokens' is ignored: no "
                        "token is kept from being chosen");
    else if (!key.starts_with("tokenizer.ggml.fim_"))
      keys.report("unknown key " + quote(key) +
                  " may change the tokens of a text: give the tokenizer "
                  "beside it with --tokenizer DIR, or none with "
                  "--no-tokenizer");
    keys.ignore(key);
  }
}

json::Array GgufTokenizerDescriber::describeAdded() const {
  json::Array added;
  for (auto [id, type] : llvm::enumerate(types)) {
    bool isUsers = type == TokenType::UserDefined;
    if (isUsers || type == TokenType::Control || type == TokenType::Unknown)
      added.push_back(json::Object{{"id", int64_t(id)},
                                   {"content", (*tokens)[id]},
                                   {"special", !isUsers},
                                   {"lstrip", false},
                                   {"rstrip", false},
                                   {"single_word", false},
                                   {"normalized", false}});
  }
  return added;
}

llvm::Expected<json::Value> GgufTokenizerDescriber::describeAround() {
  return describeTextEnds(result.settings, keys.getFile(),
                          [&](StringRef name) -> std::optional<int64_t> {
                            auto known = idOf.find(name);
                            if (known == idOf.end())
                              return std::nullopt;
                            return known->second;
                          });
}

json::Object GgufTokenizerDescriber::describeVocabulary() const {
  json::Object vocabulary;
  for (const auto &[id, token] : llvm::enumerate(*tokens))
    vocabulary[token] = int64_t(id);
  return vocabulary;
}

std::string GgufTokenizerDescriber::writeJson(json::Object file) {
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(file));
  return text;
}

std::optional<std::string> GgufTokenizerDescriber::requireUnknown() {
  std::optional<std::string> unknown = result.settings.find("unk_token");
  if (!unknown)
    keys.report("names no token for what is unknown "
                "('tokenizer.ggml.unknown_token_id')");
  return unknown;
}

//===----------------------------------------------------------------------===//
// rwkv
//===----------------------------------------------------------------------===//

llvm::Expected<std::string> GgufTokenizerDescriber::describeLongestMatch() {
  std::string lines;
  json::Object added;
  for (const auto &[id, token] : llvm::enumerate(*tokens)) {
    if (types[id] == TokenType::Unused)
      continue;
    if (types[id] != TokenType::Normal) {
      added[std::to_string(id)] = json::Object{
          {"content", token},     {"special", types[id] == TokenType::Control},
          {"lstrip", false},      {"rstrip", false},
          {"single_word", false}, {"normalized", false}};
      continue;
    }
    std::optional<std::string> bytes = readEscapedBytes(token);
    if (!bytes)
      return refuse(keys.getFile() + ": expects " + describeToken(id) +
                    " as Python writes bytes");
    std::string literal;
    for (char byte : *bytes)
      literal += "\\x" + llvm::toHex(StringRef(&byte, 1), /*LowerCase=*/true);
    lines += std::to_string(id) + " b'" + literal + "' " +
             std::to_string(bytes->size()) + "\n";
  }
  std::string settings;
  llvm::raw_string_ostream(settings)
      << json::Value(json::Object{{"added_tokens_decoder", std::move(added)}});
  return describeWorld(lines, keys.getFile(), settings);
}

//===----------------------------------------------------------------------===//
// bert
//===----------------------------------------------------------------------===//

llvm::Expected<std::string> GgufTokenizerDescriber::describeWordPieces() {
  std::optional<std::string> unknown = requireUnknown();
  if (llvm::Error error = keys.getProblem())
    return error;
  auto file =
      describeWordPiece(keys, *tokens, *unknown, *result.settings.addBosToken);
  if (!file)
    return file.takeError();
  result.settings.addBosToken.reset(); // the text says it
  result.settings.addEosToken.reset();
  (*file)["version"] = "1.0";
  (*file)["added_tokens"] = describeAdded();
  return writeJson(std::move(*file));
}

//===----------------------------------------------------------------------===//

llvm::Expected<std::optional<GgufTokenizer>>
GgufTokenizerDescriber::describe() {
  constexpr StringLiteral kModel = "tokenizer.ggml.model",
                          kWhole = "tokenizer.huggingface.json";
  const std::string *model = keys.getString(kModel);
  const std::string *whole = keys.getString(kWhole);
  if (llvm::Error error = keys.getProblem())
    return error;
  if (!model || *model == "none" || *model == "no_vocab") {
    keys.ignore(keys.getUnread("tokenizer."));
    remarks.push_back(keys.getFile() +
                      ": there is no tokenizer: the model takes and gives "
                      "token ids");
    return std::nullopt;
  }
  std::string known;
  const Kind *kind = nullptr;
  for (const Kind &one : getKinds()) {
    known += one.name.str() + ", ";
    if (one.name == *model)
      kind = &one;
  }
  if (!kind)
    return refuse(keys.getFile() + ": tokenizer " + quote(*model) +
                  " is not supported; supported: " + known +
                  "none; give it beside the file with --tokenizer DIR, or "
                  "leave it out with --no-tokenizer");
  readTokens(*kind);
  if (llvm::Error error = keys.getProblem())
    return error;
  readNamed(*kind);
  readEnds();
  readChatTemplates();
  if (llvm::Error error = keys.getProblem())
    return error;
  if (whole) {
    keys.ignore(keys.getUnread("tokenizer."));
    result.text = *whole;
    result.settings.addBosToken.reset(); // the text says it
    result.settings.addEosToken.reset();
  } else {
    auto described = (this->*kind->describe)();
    if (!described)
      return described.takeError();
    result.text = std::move(*described);
    refuseUnread();
    if (llvm::Error error = keys.getProblem())
      return error;
  }
  result.tokens = *tokens;
  return std::move(result);
}

llvm::Expected<std::optional<GgufTokenizer>>
effc::frontend::describeGgufTokenizer(GgufMetadata &keys,
                                      std::vector<std::string> &remarks) {
  return GgufTokenizerDescriber(keys, remarks).describe();
}
