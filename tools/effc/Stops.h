// What ends a generated text, besides the model's own end.
#ifndef EFFC_TOOLS_EFFC_STOPS_H
#define EFFC_TOOLS_EFFC_STOPS_H

#include "tools/effc/Inputs.h"

#include <string>
#include <vector>

namespace effc::cli {

struct Stops {
  std::vector<std::string> texts;
  Tokens tokens;
};

/// The stops of `texts` and `tokens`, as users type them. A text that is one
/// special token is that token: special tokens give no text, so the text alone
/// would never come. An element of `tokens` is an id, or the text of one token.
/// Throws UsageError for an empty text, a text with a special token inside, an
/// id outside the vocabulary, and a token's text that is several tokens.
Stops resolveStops(const Model &model, const std::vector<std::string> &texts,
                   const std::vector<std::string> &tokens);

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_STOPS_H
