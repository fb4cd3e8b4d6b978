//===- GrammarChecks.h - What holds of any grammar ------------------------===//
#ifndef EFFC_TEST_FUZZ_GRAMMARCHECKS_H
#define EFFC_TEST_FUZZ_GRAMMARCHECKS_H

#include "runtime/src/grammar/Grammar.h"

#include <string>
#include <vector>

namespace effc::test {

/// All bytes, and some tokens of several.
inline const rt::TokenTexts &fuzzedTokens() {
  static const rt::TokenTexts tokens = [] {
    std::vector<std::string> texts;
    for (int byte = 0; byte < 256; ++byte)
      texts.push_back(std::string(1, static_cast<char>(byte)));
    for (const char *text : {"{\"", "\":", "\",", "\"}", "true", "12", " a",
                             "\xC3\xA9", "\xE2\x82", "ab", "[[", "]]"})
      texts.push_back(text);
    texts.push_back(""); // the end
    return rt::TokenTexts(texts, /*dropsFirstSpace=*/false);
  }();
  return tokens;
}

inline void checkRefusal(const rt::Error &error) {
  if (error.message.empty() || error.message.find('\n') != std::string::npos)
    __builtin_trap();
}

/// Draws a text by `choices`: each mask leaves a token, and each token that it
/// leaves is taken, and no other.
inline void checkGrammar(const rt::grammar::Rules &rules,
                         std::string_view choices) {
  using namespace rt::grammar;
  const rt::TokenTexts &tokens = fuzzedTokens();
  auto size = static_cast<uint32_t>(tokens.size());
  auto end = static_cast<int32_t>(size) - 1;
  auto made = Grammar::create(rules, nullptr, tokens, size);
  if (!made)
    return checkRefusal(made.error());
  Matcher matcher(*made, {end});
  for (unsigned char choice : choices.substr(0, 24)) {
    if (matcher.isComplete())
      break;
    auto mask = matcher.mask();
    if (!mask) {
      // Too many ways are refused; that nothing can come must not be.
      if (mask.error().message.find("no token") != std::string::npos)
        __builtin_trap();
      return checkRefusal(mask.error());
    }
    std::vector<uint64_t> words(mask->begin(), mask->end());
    std::vector<int32_t> allowed;
    for (int32_t token = 0; token <= end; ++token)
      if (words[static_cast<size_t>(token) / 64] >> (token % 64) & 1)
        allowed.push_back(token);
    rt::grammar::Matcher other = matcher;
    auto probe = static_cast<int32_t>(choice);
    bool isAllowed = words[static_cast<size_t>(probe) / 64] >> (probe % 64) & 1;
    if (!other.accept(probe) != isAllowed)
      __builtin_trap();
    if (matcher.accept(allowed[choice % allowed.size()]))
      __builtin_trap();
  }
}

} // namespace effc::test

#endif // EFFC_TEST_FUZZ_GRAMMARCHECKS_H
