#include "frontend/gguf/WordPiece.h"

#include "frontend/checkpoint/Refusal.h"

#include "llvm/ADT/STLExtras.h"

using namespace effc::frontend;
using llvm::StringLiteral;
using llvm::StringRef;
namespace json = llvm::json;

/// U+2581, which stands for the space in front of a word.
static constexpr StringLiteral kPhantomSpace = "\xE2\x96\x81";
static constexpr StringLiteral kContinuing = "##";

static std::string ownName(StringRef token, PieceType type) {
  if (type == PieceType::Control || type == PieceType::Unknown)
    return token.str();
  StringRef word = token;
  if (word.consume_front(kPhantomSpace) && !word.empty())
    return word.str();
  // A user's token has no place in a word. Before 2025 marks such as [unused5] were
  // written as they are; no text has such a word, since its brackets are cut off.
  if (type == PieceType::UserDefined ||
      (token.starts_with("[") && token.ends_with("]")))
    return token.str();
  return (kContinuing + token).str();
}

std::vector<std::string>
effc::frontend::withoutPhantomSpaces(llvm::ArrayRef<std::string> tokens,
                                     llvm::ArrayRef<PieceType> types) {
  std::vector<std::string> names;
  for (auto [token, type] : llvm::zip_equal(tokens, types))
    names.push_back(ownName(token, type));
  return names;
}

/// The first of `names` that the file has, else what the format says.
static std::optional<int64_t> findNamedToken(GgufMetadata &keys, int64_t count,
                                             llvm::ArrayRef<StringRef> names,
                                             int64_t usual) {
  std::optional<int64_t> found;
  for (StringRef name : names)
    if (auto id = keys.getInteger(name, 0, count - 1); id && !found)
      found = id;
  if (!found && usual < count)
    found = usual;
  if (!found && !keys.hasProblem())
    keys.report("names no token for " + quote(names.back()));
  return found;
}

static json::Object textSequence(StringRef name) {
  return json::Object{{"Sequence", json::Object{{"id", name}, {"type_id", 0}}}};
}

llvm::Expected<json::Object>
effc::frontend::describeWordPiece(GgufMetadata &keys,
                                  llvm::ArrayRef<std::string> tokens,
                                  StringRef unknown, bool addsFirst) {
  auto count = int64_t(tokens.size());
  json::Array single;
  json::Object around;
  auto add = [&](std::optional<int64_t> id) {
    if (!id)
      return;
    const std::string &name = tokens[size_t(*id)];
    single.push_back(json::Object{
        {"SpecialToken", json::Object{{"id", name}, {"type_id", 0}}}});
    around[name] = json::Object{
        {"id", name}, {"ids", json::Array{*id}}, {"tokens", json::Array{name}}};
  };
  if (addsFirst)
    add(findNamedToken(
        keys, count,
        {"tokenizer.ggml.bos_token_id", "tokenizer.ggml.cls_token_id"}, 101));
  single.push_back(textSequence("A"));
  if (keys.getBoolean("tokenizer.ggml.add_sep_token").value_or(true))
    add(findNamedToken(keys, count,
                       {"tokenizer.ggml.separator_token_id",
                        "tokenizer.ggml.seperator_token_id"}, // spelt so
                       102));
  // What a file does not say is as of models that know no capitals.
  bool lowers =
      keys.getBoolean("tokenizer.ggml.normalizer.lowercase").value_or(true);
  bool strips = keys.getBoolean("tokenizer.ggml.normalizer.strip_accents")
                    .value_or(lowers);
  if (llvm::Error error = keys.getProblem())
    return error;
  json::Value post(nullptr);
  if (!around.empty())
    post = json::Object{{"type", "TemplateProcessing"},
                        {"single", std::move(single)},
                        {"pair", json::Array()},
                        {"special_tokens", std::move(around)}};
  json::Object vocabulary;
  for (const auto &[id, token] : llvm::enumerate(tokens))
    vocabulary[token] = int64_t(id);
  return json::Object{
      {"normalizer", json::Object{{"type", "BertNormalizer"},
                                  {"clean_text", true},
                                  {"handle_chinese_chars", true},
                                  {"strip_accents", strips},
                                  {"lowercase", lowers}}},
      {"pre_tokenizer", json::Object{{"type", "BertPreTokenizer"}}},
      {"post_processor", std::move(post)},
      {"decoder", json::Object{{"type", "WordPiece"},
                               {"prefix", kContinuing},
                               {"cleanup", true}}},
      {"model", json::Object{{"type", "WordPiece"},
                             {"vocab", std::move(vocabulary)},
                             {"unk_token", unknown},
                             {"continuing_subword_prefix", kContinuing},
                             {"max_input_chars_per_word", 100}}}};
}
