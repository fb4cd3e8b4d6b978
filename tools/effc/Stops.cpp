#include "tools/effc/Stops.h"

#include "tools/terminal/Failure.h"

#include <algorithm>
#include <charconv>
#include <optional>

using namespace effc;
using namespace effc::cli;

static bool isSpecial(const Model &model, int32_t token) {
  return model.detokenize({token}, EFFC_DETOKENIZE_SKIP_SPECIAL).empty() &&
         !model.detokenize({token}).empty();
}

/// The token that `text` is, special ones included; none where it is several.
static std::optional<int32_t> oneToken(const Model &model,
                                       const std::string &text) {
  Tokens tokens = model.tokenize(text, EFFC_TOKENIZE_NO_SPECIAL);
  if (tokens.size() != 1)
    return std::nullopt;
  return tokens[0];
}

static void addText(const Model &model, const std::string &text, Stops &stops) {
  if (text.empty())
    throw UsageError("--stop expects a text, but got an empty one");
  Tokens tokens = model.tokenize(text, EFFC_TOKENIZE_NO_SPECIAL);
  auto special = std::find_if(tokens.begin(), tokens.end(), [&](int32_t token) {
    return isSpecial(model, token);
  });
  if (special == tokens.end()) {
    stops.texts.push_back(text);
    return;
  }
  if (tokens.size() > 1)
    throw UsageError(
        "--stop '" + text + "' would never come: '" +
        model.detokenize({*special}) +
        "' is a special token, which gives no text; name it alone, "
        "or with --stop-token");
  stops.tokens.push_back(*special);
}

static int32_t tokenOf(const Model &model, const std::string &given) {
  uint64_t id = 0;
  const char *end = given.data() + given.size();
  auto [next, failure] = std::from_chars(given.data(), end, id);
  bool isNumber = next == end && !given.empty();
  if (isNumber && (failure != std::errc() || id >= model.vocabularySize()))
    throw UsageError("--stop-token " + given +
                     " is outside the vocabulary of " +
                     std::to_string(model.vocabularySize()));
  if (isNumber)
    return static_cast<int32_t>(id);
  if (!model.hasTokenizer())
    throw UsageError("--stop-token expects an id, since the model has no "
                     "tokenizer, but got '" +
                     given + "'");
  if (std::optional<int32_t> token = oneToken(model, given))
    return *token;
  throw UsageError(
      "--stop-token expects an id or the text of one token, but '" + given +
      "' is several; --stop stops at a text");
}

Stops effc::cli::resolveStops(const Model &model,
                              const std::vector<std::string> &texts,
                              const std::vector<std::string> &tokens) {
  Stops stops;
  for (const std::string &text : texts)
    addText(model, text, stops);
  for (const std::string &token : tokens)
    stops.tokens.push_back(tokenOf(model, token));
  return stops;
}
