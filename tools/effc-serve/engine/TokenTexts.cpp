#include "tools/effc-serve/engine/TokenTexts.h"

#include <algorithm>

using namespace effc;
using namespace effc::serve;

TokenTexts::TokenTexts(const Model &model) : model(model) {
  if (!model.hasTokenizer())
    return;
  anchor = model.tokenize("a", EFFC_TOKENIZE_NO_SPECIAL);
  anchorText = model.detokenize(anchor);
}

std::string TokenTexts::of(int32_t token) const {
  if (!model.hasTokenizer())
    return "token_id:" + std::to_string(token);
  std::vector<int32_t> both = anchor;
  both.push_back(token);
  std::string text = model.detokenize(both);
  if (text.starts_with(anchorText))
    return text.substr(anchorText.size());
  return model.detokenize({token});
}

size_t effc::serve::characterCount(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}
