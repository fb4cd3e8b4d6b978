// Any texts as what lies beside a tokenizer, cut at NUL bytes:
// tokenizer_config.json, special_tokens_map.json, added_tokens.json, and as
// vocab.json and merges.txt. Refused with one line, or a tokenizer.json that is
// refused with one line or gives a tokenizer.
#include "frontend/tokenizer/MergeFiles.h"

#include "test/fuzz/TokenizerChecks.h"

using namespace effc::frontend;
using namespace effc::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef input(reinterpret_cast<const char *>(data), size);
  llvm::StringRef texts[5], rest = input;
  for (llvm::StringRef &text : texts)
    std::tie(text, rest) = rest.split('\0');
  auto settings = readTokenizerSettings(texts[0], texts[1], texts[2]);
  if (!settings) {
    expectOneLine(settings.takeError());
    return 0;
  }
  auto text = describeMerges(texts[3], texts[4], "gpt2", *settings);
  if (!text) {
    expectOneLine(text.takeError());
    return 0;
  }
  checkDescribed(*text, *settings, input);
  return 0;
}
