// Any tokenizer.json: refused, or a segment that the runtime loads and that
// turns any text into ids of the vocabulary, or fails with a message.
#include "frontend/tokenizer/TokenizerImport.h"

#include "runtime/src/tokenizer/Tokenizer.h"

using namespace effc::frontend;

constexpr int64_t kVocabulary = 2048;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  std::vector<std::string> remarks;
  auto segment = translateTokenizer(text, "f", kVocabulary, remarks);
  if (!segment) {
    if (llvm::toString(segment.takeError()).find('\n') != std::string::npos)
      __builtin_trap();
    return 0;
  }
  auto tokenizer = effc::rt::Tokenizer::create(*segment);
  if (!tokenizer)
    __builtin_trap();
  auto ids = (*tokenizer)->tokenize(text.take_front(256), {});
  if (ids)
    for (int32_t id : *ids)
      if (id < 0 || id >= kVocabulary)
        __builtin_trap();
  return 0;
}
