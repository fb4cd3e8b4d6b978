#include "frontend/gguf/Tokenizer.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/gguf/EndTokens.h"
#include "frontend/gguf/EscapedBytes.h"
#include "frontend/gguf/PreTokenizers.h"
#include "frontend/gguf/WordPiece.h"
#include "frontend/tokenizer/SentencePiece.h"
#include "frontend/tokenizer/SentencePieceModel.h"
#include "frontend/tokenizer/TextEnds.h"
#include "frontend/tokenizer/VocabularyFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

using namespace effc::frontend;
using llvm::StringLiteral;
using llvm::StringRef;
using llvm::Twine;
namespace json = llvm::json;

namespace {

/// With the numbers of `tokenizer.ggml.token_type`, which are SentencePiece's.
using TokenType = PieceType;

/// U+2581, which stands for a space in a token of SentencePiece.
constexpr StringLiteral kSpace = "\xE2\x96\x81";

/// What of a file says nothing of ids, or is read elsewhere. `--tokenizer` is the way
/// on where another key does.
constexpr StringRef kIgnored[] = {
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

class Describer {
public:
  Describer(GgufMetadata &keys, std::vector<std::string> &remarks)
      : keys(keys), remarks(remarks) {}

  llvm::Expected<std::optional<GgufTokenizer>> describe();

private:
  struct Kind {
    StringLiteral name;
    llvm::Expected<std::string> (Describer::*describe)();
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

  llvm::Expected<std::string> describeByteLevel();
  /// What stands for the unknown; where there is none, a problem of the keys.
  std::optional<std::string> requireUnknown();
  llvm::Expected<std::string> describeSentencePieces();
  llvm::Expected<std::string> describeUnigram();
  llvm::Expected<std::string> describeLongestMatch();
  llvm::Expected<std::string> describeWordPieces();

  std::vector<double> readScores();
  json::Array describeAdded() const;
  llvm::Expected<json::Value> describeAround();
  json::Array mergesByScore(llvm::ArrayRef<double> scores) const;

  const std::string &text(int64_t id) const { return (*tokens)[size_t(id)]; }
  std::string describeToken(size_t id) const {
    return "token " + std::to_string(id) + " " + quote((*tokens)[id]);
  }

  GgufMetadata &keys;
  std::vector<std::string> &remarks;
  const std::vector<std::string> *tokens = nullptr;
  std::vector<std::string> ownTokens; ///< where the file's are others
  std::vector<TokenType> types;
  llvm::StringMap<int64_t> idOf;
  GgufTokenizer result;
};

} // namespace

llvm::ArrayRef<Describer::Kind> Describer::getKinds() {
  static constexpr Kind kKinds[] = {
      {"gpt2", &Describer::describeByteLevel, -1, -1, -1, false, false},
      {"llama", &Describer::describeSentencePieces, 1, 2, 0, true, false},
      {"t5", &Describer::describeUnigram, -1, 1, 2, false, true},
      {"rwkv", &Describer::describeLongestMatch, -1, -1, -1, false, false},
      {"bert", &Describer::describeWordPieces, 101, -1, 100, true, false, true},
  };
  return kKinds;
}

//===----------------------------------------------------------------------===//
// What all kinds have
//===----------------------------------------------------------------------===//

void Describer::indexTokens() {
  for (const auto &[id, token] : llvm::enumerate(*tokens)) {
    auto [known, isNew] = idOf.try_emplace(token, int64_t(id));
    if (!isNew)
      return keys.report(describeToken(id) + " is token " +
                         Twine(known->second) + " as well");
  }
}

void Describer::readTokens(const Kind &kind) {
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

void Describer::readNamed(const Kind &kind) {
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

void Describer::readEnds() {
  result.ends = findEndTokens([&](StringRef name) -> std::optional<int32_t> {
    auto known = idOf.find(name);
    if (known == idOf.end() ||
        types[size_t(known->second)] != TokenType::Control)
      return std::nullopt;
    return int32_t(known->second);
  });
}

/// `tokenizer.chat_template`, and `tokenizer.chat_template.NAME` of further ones.
void Describer::readChatTemplates() {
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
void Describer::refuseUnread() {
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

json::Array Describer::describeAdded() const {
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

llvm::Expected<json::Value> Describer::describeAround() {
  return describeTextEnds(result.settings, keys.getFile(),
                          [&](StringRef name) -> std::optional<int64_t> {
                            auto known = idOf.find(name);
                            if (known == idOf.end())
                              return std::nullopt;
                            return known->second;
                          });
}

static std::string write(json::Object file) {
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(file));
  return text;
}

static json::Object byteLevel() {
  return json::Object{{"type", "ByteLevel"},
                      {"add_prefix_space", false},
                      {"trim_offsets", true},
                      {"use_regex", false}};
}

//===----------------------------------------------------------------------===//
// gpt2
//===----------------------------------------------------------------------===//

llvm::Expected<std::string> Describer::describeByteLevel() {
  constexpr StringLiteral kPre = "tokenizer.ggml.pre",
                          kMerges = "tokenizer.ggml.merges";
  const std::string *name = keys.getString(kPre);
  const GgufPreTokenizer *pre = name ? findGgufPreTokenizer(*name) : nullptr;
  if (!pre && !keys.hasProblem())
    keys.report(
        (name ? kPre + " " + quote(*name) + " is not supported; supported: " +
                    llvm::join(llvm::map_range(
                                   listGgufPreTokenizers(),
                                   [](const auto &row) { return row.name; }),
                               ", ")
              : "lacks key " + quote(kPre)) +
        ": how texts are cut is not known; give the tokenizer beside it with "
        "--tokenizer DIR, or none with --no-tokenizer");
  const std::vector<std::string> *lines = keys.getStrings(kMerges);
  if (!lines && !keys.hasProblem() && !pre->mergesByRank)
    keys.report("lacks key " + quote(kMerges));
  if (llvm::Error error = keys.getProblem())
    return error;
  if (pre->addsBos && !keys.has("tokenizer.ggml.add_bos_token"))
    result.settings.addBosToken = true;

  json::Array merges;
  if (!lines) {
    std::vector<double> ranks(tokens->size());
    for (auto [id, rank] : llvm::enumerate(ranks))
      rank = -double(id);
    merges = mergesByScore(ranks);
  }
  const std::vector<std::string> none;
  for (const auto &[index, line] : llvm::enumerate(lines ? *lines : none)) {
    size_t space = line.find(' ', 1); // the first byte may be one
    if (space == std::string::npos || space + 1 == line.size() ||
        !json::isUTF8(line))
      return refuse(keys.getFile() + ": expects element " + Twine(index) +
                    " of " + quote(kMerges) +
                    " to be two tokens with a space between, but got " +
                    quote(line));
    merges.push_back(
        json::Array{line.substr(0, space), line.substr(space + 1)});
  }
  json::Object vocabulary;
  for (const auto &[id, token] : llvm::enumerate(*tokens))
    vocabulary[token] = int64_t(id);
  json::Array steps;
  for (StringRef split : pre->splits)
    steps.push_back(json::Object{{"type", "Split"},
                                 {"behavior", "Isolated"},
                                 {"invert", false},
                                 {"pattern", json::Object{{"Regex", split}}}});
  steps.push_back(byteLevel());
  auto around = describeAround();
  if (!around)
    return around.takeError();
  return write(json::Object{
      {"version", "1.0"},
      {"added_tokens", describeAdded()},
      {"normalizer", nullptr},
      {"pre_tokenizer",
       json::Object{{"type", "Sequence"}, {"pretokenizers", std::move(steps)}}},
      {"post_processor", std::move(*around)},
      {"decoder", byteLevel()},
      {"model",
       json::Object{{"type", "BPE"},
                    {"vocab", std::move(vocabulary)},
                    {"merges", std::move(merges)},
                    {"ignore_merges", pre->ignoresMerges || !lines}}}});
}

//===----------------------------------------------------------------------===//
// llama, t5
//===----------------------------------------------------------------------===//

std::vector<double> Describer::readScores() {
  constexpr StringLiteral kScores = "tokenizer.ggml.scores";
  const GgufValue *value = keys.find(kScores);
  if (!value) {
    keys.report("lacks key " + quote(kScores));
    return {};
  }
  if (value->isInteger()) {
    auto scores =
        keys.getIntegers(kScores, INT32_MIN, INT32_MAX, tokens->size());
    return scores ? std::vector<double>(scores->begin(), scores->end())
                  : std::vector<double>();
  }
  return keys.getNumbers(kScores, tokens->size())
      .value_or(std::vector<double>());
}

/// The pairs of tokens that make a token, the best score of the sum first; of equal
/// ones that of the lower id, and the shorter left part.
json::Array Describer::mergesByScore(llvm::ArrayRef<double> scores) const {
  std::vector<size_t> order;
  for (auto [id, type] : llvm::enumerate(types))
    if (type == TokenType::Normal)
      order.push_back(id);
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::pair(-scores[a], a) < std::pair(-scores[b], b);
  });
  auto takesPart = [&](StringRef part) {
    auto known = idOf.find(part);
    return known != idOf.end() &&
           types[size_t(known->second)] == TokenType::Normal;
  };
  json::Array merges;
  for (size_t id : order) {
    StringRef token = (*tokens)[id];
    for (size_t cut = 1; cut < token.size(); ++cut)
      if ((uint8_t(token[cut]) & 0xC0) != 0x80 && // between characters
          takesPart(token.take_front(cut)) && takesPart(token.drop_front(cut)))
        merges.push_back(
            json::Array{token.take_front(cut), token.drop_front(cut)});
  }
  return merges;
}

static json::Object replace(StringRef from, StringRef to) {
  return json::Object{{"type", "Replace"},
                      {"pattern", json::Object{{"String", from}}},
                      {"content", to}};
}

std::optional<std::string> Describer::requireUnknown() {
  std::optional<std::string> unknown = result.settings.find("unk_token");
  if (!unknown)
    keys.report("names no token for what is unknown "
                "('tokenizer.ggml.unknown_token_id')");
  return unknown;
}

llvm::Expected<std::string> Describer::describeSentencePieces() {
  std::vector<double> scores = readScores();
  bool putsSpace =
      keys.getBoolean("tokenizer.ggml.add_space_prefix").value_or(true);
  // Every way to cut every token is looked up; as SentencePiece.cpp has it.
  constexpr uint64_t kMostWork = uint64_t(1) << 32;
  uint64_t work = 0;
  for (const std::string &token : *tokens)
    work += token.size() * token.size();
  if (work > kMostWork)
    keys.report("expects tokens whose squared sizes sum to at most " +
                Twine(kMostWork) + ", but got " + Twine(work));
  std::optional<std::string> unknown = requireUnknown();
  if (llvm::Error error = keys.getProblem())
    return error;
  json::Array normalizers,
      decoders{replace(kSpace, " "), json::Object{{"type", "ByteFallback"}},
               json::Object{{"type", "Fuse"}}};
  if (putsSpace) {
    normalizers.push_back(
        json::Object{{"type", "Prepend"}, {"prepend", kSpace}});
    decoders.push_back(json::Object{
        {"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  }
  normalizers.push_back(replace(" ", kSpace));
  json::Object vocabulary;
  for (const auto &[id, token] : llvm::enumerate(*tokens))
    vocabulary[token] = int64_t(id);
  auto around = describeAround();
  if (!around)
    return around.takeError();
  return write(json::Object{
      {"version", "1.0"},
      {"added_tokens", describeAdded()},
      {"normalizer", json::Object{{"type", "Sequence"},
                                  {"normalizers", std::move(normalizers)}}},
      {"pre_tokenizer", nullptr},
      {"post_processor", std::move(*around)},
      {"decoder",
       json::Object{{"type", "Sequence"}, {"decoders", std::move(decoders)}}},
      {"model", json::Object{{"type", "BPE"},
                             {"vocab", std::move(vocabulary)},
                             {"merges", mergesByScore(scores)},
                             {"unk_token", *unknown},
                             {"fuse_unk", true},
                             {"byte_fallback", true},
                             {"ignore_merges", false}}}});
}

llvm::Expected<std::string> Describer::describeUnigram() {
  std::vector<double> scores = readScores();
  SentencePieceModel model;
  model.kind = SentencePieceKind::Unigram;
  model.addDummyPrefix =
      keys.getBoolean("tokenizer.ggml.add_space_prefix").value_or(true);
  model.removeExtraSpaces =
      keys.getBoolean("tokenizer.ggml.remove_extra_whitespaces").value_or(true);
  constexpr StringLiteral kCharsmap = "tokenizer.ggml.precompiled_charsmap";
  if (auto bytes = keys.getIntegers(kCharsmap, -128, 255))
    for (int64_t byte : *bytes)
      model.charsmap.push_back(char(byte));
  for (StringRef key : {"tokenizer.ggml.treat_whitespace_as_suffix"})
    if (keys.getBoolean(key).value_or(false))
      keys.report("expects " + quote(key) + " to be false, but got true");
  if (llvm::Error error = keys.getProblem())
    return error;
  for (const auto &[id, token] : llvm::enumerate(*tokens)) {
    model.pieces.push_back({token, float(scores[id]), types[id]});
    model.byteFallback |= types[id] == TokenType::Byte;
  }
  auto idNamed = [&](StringRef name) -> int64_t {
    std::optional<std::string> token = result.settings.find(name);
    return token ? idOf.lookup(*token) : -1;
  };
  model.unknownId = idNamed("unk_token");
  model.bosId = idNamed("bos_token");
  model.eosId = idNamed("eos_token");
  if (model.unknownId >= 0)
    model.unknownPiece = text(model.unknownId);
  return effc::frontend::describeSentencePiece(std::move(model), keys.getFile(),
                                               result.settings);
}

//===----------------------------------------------------------------------===//
// rwkv
//===----------------------------------------------------------------------===//

llvm::Expected<std::string> Describer::describeLongestMatch() {
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

llvm::Expected<std::string> Describer::describeWordPieces() {
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
  return write(std::move(*file));
}

//===----------------------------------------------------------------------===//

llvm::Expected<std::optional<GgufTokenizer>> Describer::describe() {
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
  return Describer(keys, remarks).describe();
}
