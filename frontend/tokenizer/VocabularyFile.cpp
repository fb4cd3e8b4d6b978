#include "frontend/tokenizer/VocabularyFile.h"

#include "frontend/checkpoint/MappedFile.h"
#include "frontend/checkpoint/Refusal.h"
#include "frontend/tokenizer/ByteAlphabet.h"
#include "frontend/tokenizer/TokenizerSettings.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

#include <bitset>
#include <map>

using namespace effc::frontend;
using llvm::StringRef;
using llvm::Twine;
namespace json = llvm::json;

namespace {

constexpr uint64_t kMostFileBytes = uint64_t(256) << 20;
constexpr int64_t kMostIds = int64_t(1) << 24;
constexpr llvm::StringLiteral kWorldFile = "rwkv_vocab_v20230424.txt";
constexpr llvm::StringLiteral kSettingsFile = "tokenizer_config.json";
/// What the public library cuts texts with where it reads such files.
constexpr llvm::StringLiteral kUsualPattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

/// A file that Kimi's own code reads, which knows its pattern and holds ids
/// back.
constexpr llvm::StringLiteral kKimiFile = "tiktoken.model";
constexpr int64_t kKimiReserved = 256;
/// By id, the bytes of each token.
using Tokens = std::map<int64_t, std::string>;

} // namespace

static std::string inAlphabet(StringRef bytes) {
  std::string text;
  for (char byte : bytes)
    text += getByteCharacter(uint8_t(byte));
  return text;
}

/// The settings that go with a vocabulary in a file of its own: of its added
/// tokens those that have ids.
static llvm::Expected<TokenizerSettings> readSettings(StringRef text) {
  auto settings = readTokenizerSettings(text, "", "");
  if (settings)
    llvm::erase_if(settings->tokens,
                   [](const SettingsToken &token) { return !token.id; });
  return settings;
}

static SettingsToken makeToken(int64_t id, std::string content, bool special) {
  SettingsToken token;
  token.id = id;
  token.content = std::move(content);
  token.special = special;
  return token;
}

/// The ids behind the vocabulary's, each with a name of its own where no other
/// is given.
static void addReserved(const Tokens &tokens, TokenizerSettings &settings) {
  auto first = int64_t(tokens.size());
  for (int64_t id = first; id < first + kKimiReserved; ++id)
    if (llvm::none_of(settings.tokens, [&](const SettingsToken &token) {
          return token.id == id;
        }))
      settings.tokens.push_back(
          makeToken(id, ("<|reserved_token_" + Twine(id) + "|>").str(),
                    /*special=*/false));
}

/// The tokenizer.json around `model`, whose vocabulary gets the added tokens
/// too: so they have their ids.
static llvm::Expected<std::string> describe(StringRef name,
                                            const Tokens &tokens,
                                            const TokenizerSettings &settings,
                                            json::Object model,
                                            json::Array splitters) {
  json::Object vocabulary;
  for (const auto &[id, bytes] : tokens)
    if (!vocabulary.try_emplace(inAlphabet(bytes), id).second)
      return refuse(name + ": token " + Twine(id) + " is there twice");
  json::Array added;
  for (const SettingsToken &token : settings.tokens) {
    if (tokens.count(*token.id) ||
        !vocabulary.try_emplace(token.content, *token.id).second)
      return refuse(kSettingsFile + ": token " + Twine(*token.id) + " " +
                    quote(token.content) + " is one of " + quote(name) +
                    " already");
    added.push_back(json::Object{{"id", *token.id},
                                 {"content", token.content},
                                 {"special", token.special},
                                 {"lstrip", token.leftStrip},
                                 {"rstrip", token.rightStrip},
                                 {"single_word", token.singleWord},
                                 {"normalized", token.normalized}});
  }
  model["vocab"] = std::move(vocabulary);
  splitters.push_back(json::Object{{"type", "ByteLevel"},
                                   {"add_prefix_space", false},
                                   {"trim_offsets", true},
                                   {"use_regex", false}});
  json::Object file{
      {"version", "1.0"},
      {"added_tokens", std::move(added)},
      {"pre_tokenizer", json::Object{{"type", "Sequence"},
                                     {"pretokenizers", std::move(splitters)}}},
      {"decoder", json::Object{{"type", "ByteLevel"},
                               {"add_prefix_space", true},
                               {"trim_offsets", true},
                               {"use_regex", true}}},
      {"model", std::move(model)}};
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(file));
  return text;
}

/// Any text is bytes, and a piece that no token matches is cut down to them.
static llvm::Error requireEveryByte(StringRef name, const Tokens &tokens) {
  std::bitset<256> found;
  for (const auto &[id, bytes] : tokens)
    if (bytes.size() == 1)
      found.set(uint8_t(bytes[0]));
  for (size_t byte = 0; byte < found.size(); ++byte)
    if (!found[byte])
      return refuse(name +
                    ": expects a token for each byte, but there is none for "
                    "byte " +
                    Twine(byte));
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// tiktoken
//===----------------------------------------------------------------------===//

/// The token and the rank of a line; false where it is none.
static bool readRank(StringRef line, std::string &bytes, int64_t &rank) {
  auto [token, number] = line.rtrim('\r').split(' ');
  std::vector<char> decoded;
  if (token.empty() || number.getAsInteger(10, rank) || rank < 0 ||
      rank >= kMostIds)
    return false;
  if (llvm::Error error = llvm::decodeBase64(token, decoded)) {
    llvm::consumeError(std::move(error));
    return false;
  }
  bytes.assign(decoded.begin(), decoded.end());
  return !bytes.empty();
}

bool effc::frontend::isTiktoken(StringRef text) {
  std::string bytes;
  int64_t rank;
  return readRank(text.split('\n').first, bytes, rank);
}

/// All pairs of tokens that make a token, those of the lowest ranks first.
/// More than any token has; every way to cut one is tried.
static constexpr size_t kMostTokenBytes = 1024;

static json::Array listMerges(const Tokens &tokens) {
  llvm::StringMap<int64_t> rankOf;
  for (const auto &[rank, bytes] : tokens)
    rankOf[bytes] = rank;
  json::Array merges;
  for (const auto &[rank, bytes] : tokens) {
    std::vector<std::pair<int64_t, int64_t>> pairs;
    for (size_t cut = 1; cut < bytes.size(); ++cut) {
      auto left = rankOf.find(StringRef(bytes).take_front(cut)),
           right = rankOf.find(StringRef(bytes).drop_front(cut));
      if (left != rankOf.end() && right != rankOf.end())
        pairs.push_back({left->second, right->second});
    }
    llvm::sort(pairs);
    for (auto [left, right] : pairs)
      merges.push_back(json::Array{inAlphabet(tokens.at(left)),
                                   inAlphabet(tokens.at(right))});
  }
  return merges;
}

llvm::Expected<std::string>
effc::frontend::describeTiktoken(StringRef text, StringRef name,
                                 StringRef settingsText,
                                 std::vector<std::string> &remarks) {
  auto settings = readSettings(settingsText);
  if (!settings)
    return settings.takeError();
  Tokens tokens;
  llvm::SmallVector<StringRef> lines;
  text.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (auto [index, line] : llvm::enumerate(lines)) {
    std::string bytes;
    int64_t rank;
    if (!readRank(line, bytes, rank) || !tokens.try_emplace(rank, bytes).second)
      return refuse(name + ": line " + Twine(index + 1) +
                    ": expects a token in base 64 and a rank of its own, but "
                    "got " +
                    quote(line));
    if (bytes.size() > kMostTokenBytes)
      return refuse(name + ": line " + Twine(index + 1) +
                    ": expects a token of at most " + Twine(kMostTokenBytes) +
                    " bytes, but got " + Twine(bytes.size()));
  }
  if (llvm::Error error = requireEveryByte(name, tokens))
    return error;
  if (settings->isKimi) {
    addReserved(tokens, *settings);
    if (!settings->pattern)
      settings->pattern = kKimiPattern.str();
  }
  json::Object model{
      {"type", "BPE"}, {"ignore_merges", true}, {"merges", listMerges(tokens)}};
  json::Object split{
      {"type", "Split"},
      {"behavior", "Isolated"},
      {"invert", false},
      {"pattern", json::Object{{"Regex", settings->pattern.value_or(
                                             kUsualPattern.str())}}}};
  auto file = describe(name, tokens, *settings, std::move(model),
                       json::Array{std::move(split)});
  if (file && !settings->pattern)
    remarks.push_back(
        (name + ": texts are cut as the public library does with such files, "
                "since 'tokenizer_config.json' has no 'pat_str'")
            .str());
  return file;
}

//===----------------------------------------------------------------------===//
// RWKV's World vocabulary
//===----------------------------------------------------------------------===//

/// The bytes of a literal as Python's repr() writes it, 'text' or b'bytes';
/// nothing where it is none. Bytes are written in ASCII.
static std::optional<std::string> readLiteral(StringRef text) {
  bool isBytes = text.consume_front("b");
  if (text.size() < 2 || text.front() != text.back() ||
      (text.front() != '\'' && text.front() != '"'))
    return std::nullopt;
  char quoteMark = text.front();
  text = text.drop_front().drop_back();
  std::string bytes;
  auto append = [&](unsigned code) {
    if (isBytes) {
      bytes += char(code);
      return code < 256;
    }
    char buffer[UNI_MAX_UTF8_BYTES_PER_CODE_POINT];
    char *end = buffer;
    bool good = llvm::ConvertCodePointToUTF8(code, end);
    bytes.append(buffer, end);
    return good;
  };
  while (!text.empty()) {
    if (!text.consume_front("\\")) {
      if (text.front() == quoteMark ||
          (isBytes && !llvm::isASCII(text.front())))
        return std::nullopt;
      bytes += text.front();
      text = text.drop_front();
      continue;
    }
    if (text.empty())
      return std::nullopt;
    char kind = text.front();
    text = text.drop_front();
    constexpr StringRef kNames = "ntr\\'\"", kMeanings = "\n\t\r\\'\"";
    size_t named = kNames.find(kind);
    size_t digits = kind == 'x'   ? 2
                    : isBytes     ? 0
                    : kind == 'u' ? 4
                    : kind == 'U' ? 8
                                  : 0;
    unsigned code = 0;
    if (named != StringRef::npos)
      code = uint8_t(kMeanings[named]);
    else if (digits == 0 || text.size() < digits ||
             text.take_front(digits).getAsInteger(16, code))
      return std::nullopt;
    text = text.drop_front(named != StringRef::npos ? 0 : digits);
    if (!append(code))
      return std::nullopt;
  }
  if (!isBytes && !json::isUTF8(bytes))
    return std::nullopt;
  return bytes;
}

llvm::Expected<std::string>
effc::frontend::describeWorld(StringRef text, StringRef name,
                              StringRef settingsText) {
  auto settings = readSettings(settingsText);
  if (!settings)
    return settings.takeError();
  Tokens tokens;
  llvm::SmallVector<StringRef> lines;
  text.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (auto [index, line] : llvm::enumerate(lines)) {
    line = line.rtrim('\r');
    auto [number, rest] = line.split(' ');
    auto [literal, length] = rest.rsplit(' ');
    int64_t id;
    size_t size;
    std::optional<std::string> bytes = readLiteral(literal);
    if (number.getAsInteger(10, id) || id < 0 || id >= kMostIds ||
        length.getAsInteger(10, size) || !bytes || bytes->size() != size ||
        size == 0 || !tokens.try_emplace(id, *bytes).second)
      return refuse(name + ": line " + Twine(index + 1) +
                    ": expects an id of its own, a string or bytes as Python "
                    "writes them, and how many bytes these are, but got " +
                    quote(line));
  }
  if (llvm::Error error = requireEveryByte(name, tokens))
    return error;
  // Id 0 ends a text; the file does not have it.
  bool named = llvm::any_of(settings->tokens, [](const SettingsToken &token) {
    return token.id == 0;
  });
  if (!named && !tokens.count(0))
    settings->tokens.insert(settings->tokens.begin(),
                            makeToken(0, "<|rwkv_tokenizer_end_of_text|>",
                                      /*special=*/true));
  json::Object model{{"type", "WordPiece"},
                     {"continuing_subword_prefix", ""},
                     {"max_input_chars_per_word", int64_t(UINT32_MAX)},
                     // There is none, since every byte is a token.
                     {"unk_token", inAlphabet(StringRef("\0", 1))}};
  return describe(name, tokens, *settings, std::move(model), {});
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

llvm::Expected<std::string>
effc::frontend::findVocabularyFile(StringRef directory) {
  std::string found;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator entry(directory, error), end;
       !error && entry != end; entry.increment(error)) {
    StringRef name = llvm::sys::path::filename(entry->path());
    if (name != kWorldFile && !name.ends_with(".tiktoken"))
      continue;
    if (!found.empty())
      return refuse("expects one vocabulary, but got " +
                    quote(std::min(found, name.str())) + " and " +
                    quote(std::max(found, name.str())));
    found = name.str();
  }
  if (!found.empty())
    return found;
  // SentencePiece's files have the same name as the second.
  for (StringRef name : {StringRef(kKimiFile), StringRef("tokenizer.model")}) {
    llvm::SmallString<128> path(directory);
    llvm::sys::path::append(path, name);
    if (!llvm::sys::fs::exists(path))
      continue;
    auto text = readTextFile(path, name, kMostFileBytes);
    if (!text)
      return text.takeError();
    if (isTiktoken(*text))
      return name.str();
  }
  return found;
}

llvm::Expected<std::string>
effc::frontend::readVocabularyFile(StringRef directory, StringRef name,
                                   std::vector<std::string> &remarks) {
  auto read = [&](StringRef file) {
    llvm::SmallString<128> path(directory);
    llvm::sys::path::append(path, file);
    if (file == kSettingsFile && !llvm::sys::fs::exists(path))
      return llvm::Expected<std::string>(std::string());
    return readTextFile(path, file, kMostFileBytes);
  };
  auto text = read(name);
  if (!text)
    return text.takeError();
  auto settings = read(kSettingsFile);
  if (!settings)
    return settings.takeError();
  return name == kWorldFile ? describeWorld(*text, name, *settings)
                            : describeTiktoken(*text, name, *settings, remarks);
}
