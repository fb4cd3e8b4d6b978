#include "frontend/tokenizer/TextEnds.h"

#include "frontend/checkpoint/Refusal.h"

using namespace effc::frontend;
using llvm::StringRef;
namespace json = llvm::json;

using FindToken = llvm::function_ref<std::optional<int64_t>(StringRef)>;

/// The token `key` around a text, where the settings ask for it.
static llvm::Error addAround(const TokenizerSettings &settings, StringRef key,
                             bool asked, StringRef file, FindToken find,
                             json::Array &single, json::Object &tokens) {
  if (!asked)
    return llvm::Error::success();
  std::optional<std::string> name = settings.find(key);
  std::optional<int64_t> id = name ? find(*name) : std::nullopt;
  if (!id)
    return refuse("tokenizer_config.json: a text is to have its " + key +
                  " around it, but " + file + " has " +
                  (name ? "no token " + quote(*name) : "none"));
  single.push_back(json::Object{
      {"SpecialToken", json::Object{{"id", *name}, {"type_id", 0}}}});
  tokens[*name] = json::Object{
      {"id", *name}, {"ids", json::Array{*id}}, {"tokens", json::Array{*name}}};
  return llvm::Error::success();
}

llvm::Expected<json::Value>
effc::frontend::describeTextEnds(const TokenizerSettings &settings,
                                 StringRef file, FindToken find) {
  json::Array single;
  json::Object tokens;
  if (llvm::Error error =
          addAround(settings, "bos_token", settings.addBosToken.value_or(false),
                    file, find, single, tokens))
    return error;
  single.push_back(
      json::Object{{"Sequence", json::Object{{"id", "A"}, {"type_id", 0}}}});
  if (llvm::Error error =
          addAround(settings, "eos_token", settings.addEosToken.value_or(false),
                    file, find, single, tokens))
    return error;
  if (tokens.empty())
    return json::Value(nullptr);
  return json::Value(json::Object{{"type", "TemplateProcessing"},
                                  {"single", std::move(single)},
                                  {"pair", json::Array()},
                                  {"special_tokens", std::move(tokens)}});
}
