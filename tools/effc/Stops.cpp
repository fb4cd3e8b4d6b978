#include "tools/effc/Stops.h"

#include "tools/effc/TokenNames.h"
#include "tools/terminal/Failure.h"

#include <algorithm>

using namespace effc;
using namespace effc::cli;

static bool isSpecial(const Model &model, int32_t token) {
  return model.detokenize({token}, EFFC_DETOKENIZE_SKIP_SPECIAL).empty() &&
         !model.detokenize({token}).empty();
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

Stops effc::cli::resolveStops(const Model &model,
                              const std::vector<std::string> &texts,
                              const std::vector<std::string> &tokens) {
  Stops stops;
  for (const std::string &text : texts)
    addText(model, text, stops);
  for (const std::string &token : tokens)
    stops.tokens.push_back(
        tokenNamed(model, token, "--stop-token", "; --stop stops at a text"));
  return stops;
}
