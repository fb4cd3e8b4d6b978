// What the targets that make tokenizers ask of what they made.
#ifndef EFFC_TEST_FUZZ_TOKENIZERCHECKS_H
#define EFFC_TEST_FUZZ_TOKENIZERCHECKS_H

#include "frontend/tokenizer/TokenizerImport.h"

#include "runtime/src/tokenizer/Tokenizer.h"

namespace effc::fuzz {

inline void check(bool holds) {
  if (!holds)
    __builtin_trap();
}

inline void expectOneLine(llvm::Error error) {
  std::string text = llvm::toString(std::move(error));
  check(!text.empty() && text.find('\n') == std::string::npos);
}

/// The text of a tokenizer.json that effc wrote: refused with one line, or
/// loaded by the runtime, whose ids are tokens. The runtime may refuse what takes
/// more than its size allows.
inline void checkDescribed(llvm::StringRef text,
                           const frontend::TokenizerSettings &settings,
                           llvm::StringRef input) {
  constexpr int64_t kVocabulary = 2048;
  std::vector<std::string> remarks;
  auto segment =
      frontend::translateTokenizer(text, "f", kVocabulary, remarks, settings);
  if (!segment)
    return expectOneLine(segment.takeError());
  auto made = rt::Tokenizer::create(*segment);
  if (!made)
    return check(made.error().message.find("more than") != std::string::npos);
  auto ids = (*made)->tokenize(input.take_back(256), {});
  if (!ids)
    return;
  // Tokens may lie past the model's vocabulary: one for each byte at most.
  for (int32_t id : *ids)
    check(id >= 0 && id < kVocabulary + int64_t(input.size()) + 256);
  auto decoded = (*made)->detokenize(*ids, /*skipSpecial=*/false);
  check(decoded || !decoded.error().message.empty());
}

} // namespace effc::fuzz

#endif // EFFC_TEST_FUZZ_TOKENIZERCHECKS_H
