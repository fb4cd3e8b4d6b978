#include "frontend/tokenizer/MergeFiles.h"

#include "frontend/checkpoint/Json.h"
#include "frontend/checkpoint/Refusal.h"
#include "frontend/tokenizer/TextEnds.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/JSON.h"

using namespace effc::frontend;
using llvm::StringRef;
namespace json = llvm::json;

namespace {

/// What a class of the library does around the merges.
struct TokenizerClass {
  StringRef name;
  llvm::ArrayRef<StringRef> modelTypes; // that have it where no class is named
  StringRef pattern; // that cuts texts; empty: ByteLevel's own words
  bool composes;     // texts are in normal form C first
  llvm::ArrayRef<StringRef> ends; // names of kEnd where none are given
};

constexpr StringRef kEnd = "<|endoftext|>";
constexpr StringRef kGpt2Types[] = {"gpt2", "gpt_neo", "opt"},
                    kQwenTypes[] = {"qwen2", "qwen2_moe", "qwen3", "qwen3_moe",
                                    "qwen3_next"};
constexpr StringRef kGpt2Ends[] = {"bos_token", "eos_token", "unk_token"},
                    kQwenEnds[] = {"eos_token", "unk_token", "pad_token"};
constexpr StringRef kQwenPattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

const TokenizerClass kClasses[] = {
    {"GPT2Tokenizer", kGpt2Types, "", false, kGpt2Ends},
    {"Qwen2Tokenizer", kQwenTypes, kQwenPattern, true, kQwenEnds},
};

} // namespace

static llvm::Expected<const TokenizerClass *>
findClass(StringRef modelType, const TokenizerSettings &settings) {
  std::string known;
  for (const TokenizerClass &one : kClasses) {
    if (settings.tokenizerClass.empty()
            ? llvm::is_contained(one.modelTypes, modelType)
            : settings.tokenizerClass == one.name)
      return &one;
    known += (known.empty() ? "" : ", ") + one.name.str();
  }
  std::string found = settings.tokenizerClass.empty()
                          ? "no class for model type " + quote(modelType)
                          : quote(settings.tokenizerClass);
  return refuse(kVocabularyFile + ", " + kMergesFile +
                ": expects 'tokenizer_class' of tokenizer_config.json to be "
                "one of " +
                known + ", but got " + found +
                ": how a text is cut before the merges is not known; save the "
                "tokenizer with the public library, which writes a "
                "tokenizer.json");
}

static json::Object byteLevel(bool addPrefixSpace, bool useWords) {
  return json::Object{{"type", "ByteLevel"},
                      {"add_prefix_space", addPrefixSpace},
                      {"trim_offsets", true},
                      {"use_regex", useWords}};
}

static json::Value preTokenizer(const TokenizerClass &kind,
                                bool addPrefixSpace) {
  if (kind.pattern.empty())
    return byteLevel(addPrefixSpace, /*useWords=*/true);
  return json::Object{
      {"type", "Sequence"},
      {"pretokenizers",
       json::Array{
           json::Object{{"type", "Split"},
                        {"behavior", "Isolated"},
                        {"invert", false},
                        {"pattern", json::Object{{"Regex", kind.pattern}}}},
           byteLevel(addPrefixSpace, /*useWords=*/false)}}};
}

/// Names the class' own end where the settings name none.
static void nameEnds(const TokenizerClass &kind, const JsonObject &vocabulary,
                     TokenizerSettings &settings) {
  if (!vocabulary.find(kEnd))
    return;
  for (StringRef key : kind.ends)
    if (!settings.find(key))
      settings.named.push_back({key.str(), kEnd.str()});
  if (llvm::any_of(settings.tokens, [](const SettingsToken &token) {
        return token.content == kEnd;
      }))
    return;
  SettingsToken end;
  end.content = kEnd.str();
  end.file = kVocabularyFile.str();
  settings.tokens.push_back(std::move(end));
}

llvm::Expected<std::string>
effc::frontend::describeMerges(StringRef vocabularyText, StringRef mergesText,
                               StringRef modelType,
                               TokenizerSettings &settings) {
  auto kind = findClass(modelType, settings);
  if (!kind)
    return kind.takeError();
  JsonLimits limits;
  limits.bytes = uint64_t(256) << 20;
  auto parsed = parseJson(vocabularyText, kVocabularyFile, limits);
  if (!parsed)
    return parsed.takeError();
  const JsonObject *vocabulary = parsed->getObject();
  if (!vocabulary)
    return refuse(kVocabularyFile + ": expects an object, but got " +
                  parsed->describe());
  nameEnds(**kind, *vocabulary, settings);

  json::Object tokens;
  for (const JsonMember &member : vocabulary->getMembers()) {
    std::optional<int64_t> id = member.value.getInteger();
    if (!id)
      return refuse(kVocabularyFile + ": expects the id of token " +
                    quote(member.key) + " to be an integer, but got " +
                    member.value.describe());
    tokens[member.key] = *id;
  }
  json::Array merges;
  llvm::SmallVector<StringRef> lines;
  mergesText.split(lines, '\n');
  for (auto [index, line] : llvm::enumerate(lines)) {
    if (!json::isUTF8(line))
      return refuse(kMergesFile + ": line " + llvm::Twine(index + 1) +
                    " is not UTF-8");
    if (line = line.rtrim('\r'); !line.empty() && !line.starts_with("#version"))
      merges.push_back(line);
  }

  auto around = describeTextEnds(settings, kVocabularyFile,
                                 [&](StringRef name) -> std::optional<int64_t> {
                                   const JsonValue *id = vocabulary->find(name);
                                   return id ? id->getInteger() : std::nullopt;
                                 });
  if (!around)
    return around.takeError();
  json::Value normalizer = nullptr;
  if ((*kind)->composes)
    normalizer = json::Object{{"type", "NFC"}};
  json::Object file{
      {"version", "1.0"},
      {"added_tokens", json::Array()},
      {"normalizer", std::move(normalizer)},
      {"pre_tokenizer",
       preTokenizer(**kind, settings.addPrefixSpace.value_or(false))},
      {"post_processor", std::move(*around)},
      {"decoder", byteLevel(/*addPrefixSpace=*/true, /*useWords=*/true)},
      {"model", json::Object{{"type", "BPE"},
                             {"vocab", std::move(tokens)},
                             {"merges", std::move(merges)}}}};
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(file));
  return text;
}
