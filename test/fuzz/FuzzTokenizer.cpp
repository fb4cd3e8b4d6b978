// Any tokenizer.json: refused with one line, or a segment that the runtime
// loads and that turns any text into ids of the vocabulary, or fails with a
// message; and the ids back into UTF-8, the same at once and one by one.
#include "frontend/tokenizer/TokenizerImport.h"

#include "runtime/src/tokenizer/Tokenizer.h"
#include "runtime/src/tokenizer/Utf8.h"

using namespace effc::frontend;

constexpr int64_t kVocabulary = 2048;

static void check(bool holds) {
  if (!holds)
    __builtin_trap();
}

static void decode(const effc::rt::Tokenizer &tokenizer,
                   const std::vector<int32_t> &ids) {
  for (bool skipSpecial : {false, true}) {
    std::string whole = tokenizer.detokenize(ids, skipSpecial);
    check(effc::rt::makeValidUtf8(whole) == whole);
    effc::rt::DecodeStream stream(tokenizer, skipSpecial);
    std::string streamed;
    for (int32_t id : ids) {
      std::string_view piece = stream.push(id);
      check(effc::rt::makeValidUtf8(piece) == piece);
      streamed += piece;
    }
    streamed += stream.finish();
    check(streamed == whole);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  std::vector<std::string> remarks;
  auto segment = translateTokenizer(text, "f", kVocabulary, remarks);
  if (!segment) {
    check(llvm::toString(segment.takeError()).find('\n') == std::string::npos);
    return 0;
  }
  auto made = effc::rt::Tokenizer::create(*segment);
  check(bool(made));
  const effc::rt::Tokenizer &tokenizer = **made;
  for (bool plain : {false, true}) {
    effc::rt::Tokenizer::Options options;
    options.plain = plain;
    auto ids = tokenizer.tokenize(text.take_back(256), options);
    if (!ids)
      continue;
    for (int32_t id : *ids)
      check(id >= 0 && id < kVocabulary);
    decode(tokenizer, *ids);
  }
  std::vector<int32_t> any;
  for (uint8_t byte : llvm::ArrayRef(data, std::min<size_t>(size, 64)))
    any.push_back(int32_t(byte) * 9 - 64);
  decode(tokenizer, any);
  return 0;
}
