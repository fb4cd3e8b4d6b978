//===- TokenTexts.h - The text of each token by itself --------------------===//
#ifndef EFFC_TOOLS_EFFC_SERVE_ENGINE_TOKENTEXTS_H
#define EFFC_TOOLS_EFFC_SERVE_ENGINE_TOKENTEXTS_H

#include "runtime/include/effc/effc.hpp"

#include <string>
#include <vector>

namespace effc::serve {

/// Tokens between texts and ids, as answers show them. Any thread.
class TokenTexts {
public:
  explicit TokenTexts(const Model &model);

  /// The text that a token adds to another: with the space that a decoder would
  /// drop at a beginning. Bytes that are no character by themselves are U+FFFD.
  /// Without a tokenizer "token_id:7".
  std::string of(int32_t token) const;

private:
  const Model &model;
  std::vector<int32_t> anchor; // stands before a token that is looked at
  std::string anchorText;
};

/// The characters of `text`, valid UTF-8.
size_t characterCount(std::string_view text);

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_ENGINE_TOKENTEXTS_H
