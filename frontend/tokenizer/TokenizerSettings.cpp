#include "frontend/tokenizer/TokenizerSettings.h"

#include "frontend/checkpoint/ConfigReader.h"
#include "frontend/checkpoint/MappedFile.h"
#include "frontend/checkpoint/Refusal.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace effc::frontend;
using llvm::StringRef;
using llvm::Twine;

static constexpr llvm::StringLiteral kConfigFile = "tokenizer_config.json",
                                     kSpecialFile = "special_tokens_map.json",
                                     kAddedFile = "added_tokens.json";
static constexpr uint64_t kMostFileBytes = uint64_t(64) << 20;
static constexpr int64_t kMostIds = int64_t(1) << 24;
/// T5 has 100; each is a token of the vocabulary.
static constexpr int64_t kMostExtraIds = 65536;

/// The keys that name a token, in the library's order
/// (SPECIAL_TOKENS_ATTRIBUTES), and those that list further ones.
static constexpr llvm::StringLiteral kNamed[] = {
    "bos_token", "eos_token", "unk_token", "sep_token",
    "pad_token", "cls_token", "mask_token"};
static constexpr llvm::StringLiteral kLists[] = {"additional_special_tokens",
                                                 "extra_special_tokens"};

/// A file that Kimi's own code reads, which knows its pattern and holds ids
/// back.
static constexpr llvm::StringLiteral kKimiCode =
    "tokenization_kimi.TikTokenTokenizer";

namespace {

class SettingsReader {
public:
  llvm::Error read(StringRef config, StringRef specialTokens,
                   StringRef addedTokens) {
    if (llvm::Error error = parse(kConfigFile, config,
                                  [&](auto &reader) { readConfig(reader); }))
      return error;
    if (llvm::Error error = parse(kSpecialFile, specialTokens,
                                  [&](auto &reader) { readNames(reader); }))
      return error;
    if (!hasDecoder)
      if (llvm::Error error = parse(kAddedFile, addedTokens, [&](auto &reader) {
            readAddedFile(reader);
          }))
        return error;
    llvm::sort(settings.tokens,
               [](const SettingsToken &a, const SettingsToken &b) {
                 return a.id < b.id;
               });
    for (SettingsToken &token : namedTokens)
      if (llvm::none_of(settings.tokens, [&](const SettingsToken &known) {
            return known.content == token.content;
          }))
        settings.tokens.push_back(std::move(token));
    return llvm::Error::success();
  }

  TokenizerSettings settings;

private:
  /// Has `body` read the object of a file; nothing where `text` is empty. Keys
  /// that `body` does not ask for are about the library's own classes.
  template <typename Body>
  llvm::Error parse(StringRef file, StringRef text, Body body) {
    if (text.empty())
      return llvm::Error::success();
    settings.files.push_back(file.str());
    auto value = parseJson(text, file);
    if (!value)
      return value.takeError();
    object = value->getObject();
    if (!object)
      return refuse(file + ": expects an object, but got " + value->describe());
    ConfigReader reader(file, *object);
    body(reader);
    return reader.hasProblem() ? reader.getProblem() : llvm::Error::success();
  }

  static std::optional<bool> optionalBoolean(ConfigReader &reader,
                                             StringRef key) {
    if (!reader.isSet(key))
      return std::nullopt;
    return reader.getBoolean(key, false);
  }

  void readConfig(ConfigReader &reader) {
    if (reader.isSet("pat_str"))
      if (const std::string *pattern = reader.getString("pat_str"))
        settings.pattern = *pattern;
    settings.isKimi = namesKimiCode(reader);
    settings.addPrefixSpace = optionalBoolean(reader, "add_prefix_space");
    settings.addBosToken = optionalBoolean(reader, "add_bos_token");
    settings.addEosToken = optionalBoolean(reader, "add_eos_token");
    settings.chatTemplates = readChatTemplates(reader);
    settings.legacy = optionalBoolean(reader, "legacy");
    settings.extraIds = reader.getIntegerIfSet("extra_ids", 0, kMostExtraIds);
    if (reader.isSet("tokenizer_class"))
      if (const std::string *name = reader.getString("tokenizer_class"))
        settings.setClass(*name);
    if (const JsonObject *decoder =
            reader.getObjectIfSet("added_tokens_decoder")) {
      hasDecoder = true;
      for (const JsonMember &member : decoder->getMembers())
        readDecoderEntry(reader, member.key, member.value);
    }
    readNames(reader);
  }

  /// Whether `auto_map` names Kimi's code for the tokenizer.
  static bool namesKimiCode(ConfigReader &reader) {
    const JsonObject *map = reader.getObjectIfSet("auto_map");
    const JsonValue *code = map ? map->find("AutoTokenizer") : nullptr;
    if (code && code->getArray() && !code->getArray()->empty())
      code = &code->getArray()->front();
    const std::string *name = code ? code->getString() : nullptr;
    return name && *name == kKimiCode;
  }

  void readDecoderEntry(ConfigReader &reader, StringRef key,
                        const JsonValue &entry) {
    int64_t id;
    if (key.getAsInteger(10, id) || id < 0 || id >= kMostIds ||
        !entry.getObject())
      return reader.report("expects 'added_tokens_decoder' to have an object "
                           "for each id, but got " +
                           quote(key));
    ConfigReader token((kConfigFile + ": token " + key).str(),
                       *entry.getObject());
    SettingsToken added = readToken(token, kConfigFile);
    added.id = id;
    settings.tokens.push_back(std::move(added));
    reader.finishInner(token);
  }

  static SettingsToken readToken(ConfigReader &token, StringRef file) {
    const std::string *content = token.getString("content");
    if (!content || content->empty())
      token.report("expects 'content' to be a text that is not empty");
    SettingsToken added;
    added.content = content ? *content : "";
    added.special = token.getBoolean("special", false);
    added.leftStrip = token.getBoolean("lstrip", false);
    added.rightStrip = token.getBoolean("rstrip", false);
    added.singleWord = token.getBoolean("single_word", false);
    added.normalized = token.getBoolean("normalized", false);
    added.file = file.str();
    token.get("__type"); // what the library's writer calls the class
    return added;
  }

  /// The tokens that are named for what they do; of a key that both files have
  /// the first counts.
  void readNames(ConfigReader &reader) {
    for (StringRef key : kNamed)
      if (const JsonValue *value = reader.get(key))
        if (!value->isNull() && !settings.find(key))
          if (std::optional<SettingsToken> token =
                  readName(reader, key, *value))
            settings.named.push_back({key.str(), token->content});
    for (StringRef key : kLists)
      if (const JsonValue *value = reader.get(key)) {
        readList(reader, key, *value);
        // An empty one or null counts; names alone, and the older key in
        // special_tokens_map.json, do not.
        settings.listsSpecial |=
            !value->getObject() &&
            (key != kLists[0] || reader.getFile() == kConfigFile);
      }
  }

  /// A list, or an object in which each has a name.
  void readList(ConfigReader &reader, StringRef key, const JsonValue &value) {
    if (const JsonArray *list = value.getArray())
      for (const JsonValue &element : *list)
        readName(reader, key, element);
    else if (const JsonObject *named = value.getObject())
      for (const JsonMember &member : named->getMembers())
        readName(reader, key, member.value);
  }

  /// A text, or an object as 'added_tokens_decoder' has them.
  std::optional<SettingsToken> readName(ConfigReader &reader, StringRef key,
                                        const JsonValue &value) {
    SettingsToken token;
    token.file = reader.getFile().str();
    if (const std::string *text = value.getString()) {
      token.content = *text;
      if (text->empty()) // as if it were not there
        return std::nullopt;
    } else if (const JsonObject *object = value.getObject()) {
      ConfigReader inner((reader.getFile() + ": " + key).str(), *object);
      token = readToken(inner, reader.getFile());
      token.special = true;
      reader.finishInner(inner);
    } else {
      reader.reportMismatch(key, "a text or an object with 'content'", value);
      return std::nullopt;
    }
    namedTokens.push_back(token);
    return token;
  }

  /// {"<|im_end|>": 32001}: special are those that are named elsewhere.
  void readAddedFile(ConfigReader &reader) {
    for (const JsonMember &member : object->getMembers()) {
      std::optional<int64_t> id = member.value.getInteger();
      if (!id || *id < 0 || *id >= kMostIds || member.key.empty())
        return reader.report("expects an id for each text, but got " +
                             member.value.describe() + " for " +
                             quote(member.key));
      SettingsToken token;
      token.id = *id;
      token.content = member.key;
      token.file = kAddedFile.str();
      token.special =
          llvm::any_of(namedTokens, [&](const SettingsToken &named) {
            return named.content == token.content;
          });
      token.normalized = !token.special;
      settings.tokens.push_back(std::move(token));
    }
  }

  const JsonObject *object = nullptr; // of the file that is read
  std::vector<SettingsToken> namedTokens;
  bool hasDecoder = false;
};

} // namespace

std::optional<std::string> TokenizerSettings::find(StringRef key) const {
  for (const auto &[name, content] : named)
    if (name == key)
      return content;
  return std::nullopt;
}

llvm::Expected<TokenizerSettings>
effc::frontend::readTokenizerSettings(StringRef config, StringRef specialTokens,
                                      StringRef addedTokens) {
  SettingsReader reader;
  if (llvm::Error error = reader.read(config, specialTokens, addedTokens))
    return error;
  return std::move(reader.settings);
}

llvm::Expected<TokenizerSettings>
effc::frontend::readTokenizerSettings(StringRef directory) {
  std::string texts[3];
  StringRef names[] = {kConfigFile, kSpecialFile, kAddedFile};
  for (auto [name, text] : llvm::zip_equal(names, texts)) {
    llvm::SmallString<256> path(directory);
    llvm::sys::path::append(path, name);
    if (!llvm::sys::fs::exists(path))
      continue;
    auto read = readTextFile(path, name, kMostFileBytes);
    if (!read)
      return read.takeError();
    text = std::move(*read);
  }
  auto settings = readTokenizerSettings(texts[0], texts[1], texts[2]);
  if (!settings)
    return settings;
  auto templates = readChatTemplateFiles(directory);
  if (!templates)
    return templates.takeError();
  for (const ChatTemplate &each : *templates)
    settings->files.push_back(each.file);
  if (!templates->empty())
    settings->chatTemplates = std::move(*templates);
  return settings;
}
