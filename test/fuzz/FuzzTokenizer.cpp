// Any tokenizer.json: refused with one line, or a segment that the runtime
// loads and that turns any text into ids of the vocabulary, or fails with a
// message; and the ids back into UTF-8, the same at once and one by one. The
// segment may be refused where it takes more than its size allows; nothing else
// may take more.
#include "frontend/tokenizer/TokenizerImport.h"

#include "runtime/src/tokenizer/Tokenizer.h"
#include "runtime/src/tokenizer/Utf8.h"
#include "test/fuzz/WorkCounter.h"

using namespace effc::frontend;
using effc::rt::Budget;
using effc::test::kReadsOfStep;
using effc::test::WorkCounter;

constexpr int64_t kVocabulary = 2048;

static void check(bool holds) {
  if (!holds)
    __builtin_trap();
}

static void decode(const effc::rt::Tokenizer &tokenizer,
                   const std::vector<int32_t> &ids) {
  for (bool skipSpecial : {false, true}) {
    WorkCounter work;
    auto whole = tokenizer.detokenize(ids, skipSpecial);
    Budget budget = Budget::ofDecoding();
    budget.grow(ids.size());
    work.expectAtMost(kReadsOfStep * budget.stepsLeft());
    if (!whole)
      continue;
    check(effc::rt::makeValidUtf8(*whole) == *whole);
    effc::rt::DecodeStream stream(tokenizer, skipSpecial);
    std::string streamed;
    for (int32_t id : ids) {
      auto piece = stream.push(id);
      check(bool(piece));
      check(effc::rt::makeValidUtf8(*piece) == *piece);
      streamed += *piece;
    }
    auto rest = stream.finish();
    check(bool(rest));
    streamed += *rest;
    check(streamed == *whole);
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
  WorkCounter loading;
  auto made = effc::rt::Tokenizer::create(*segment);
  loading.expectAtMost(kReadsOfStep *
                       Budget::ofLoad(segment->size()).stepsLeft());
  if (!made) {
    check(made.error().message.find("more than") != std::string::npos);
    return 0;
  }
  const effc::rt::Tokenizer &tokenizer = **made;
  for (bool plain : {false, true}) {
    effc::rt::Tokenizer::Options options;
    llvm::StringRef end = text.take_back(256);
    if (plain)
      options.plain = effc::rt::PlainSpans::all(end.size());
    WorkCounter work;
    auto ids = tokenizer.tokenize(end, options);
    // Invalid bytes become three each.
    work.expectAtMost(kReadsOfStep * Budget::ofEncoding(3 * 256).stepsLeft());
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
