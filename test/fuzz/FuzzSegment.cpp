// Any bytes as the tokenizer segment of an artifact: refused with one line, or a
// tokenizer that turns a text into ids and back, or fails with one line; all in
// work that is bounded by the bytes.
#include "runtime/src/tokenizer/Tokenizer.h"
#include "runtime/src/tokenizer/Utf8.h"
#include "test/fuzz/WorkCounter.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <cstring>

using namespace effc;
using namespace effc::rt;
using effc::test::kReadsOfStep;
using effc::test::WorkCounter;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

/// Starts from the toy's tokenizer where there is nothing to start from.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t most, unsigned) {
  static const std::vector<uint8_t> toy = [] {
    artifact::TokenizerT table = test::makeToyTokenizer();
    flatbuffers::FlatBufferBuilder packed;
    artifact::FinishTokenizerBuffer(packed,
                                    artifact::Tokenizer::Pack(packed, &table));
    return std::vector<uint8_t>(packed.GetBufferPointer(),
                                packed.GetBufferPointer() + packed.GetSize());
  }();
  if (size < 16 && toy.size() <= most) {
    std::memcpy(data, toy.data(), toy.size());
    size = toy.size();
  }
  return LLVMFuzzerMutate(data, size, most);
}

static void expectOneLine(const Error &error) {
  if (error.code != EFFC_BAD_DATA || error.message.empty() ||
      error.message.find('\n') != std::string::npos)
    __builtin_trap();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // Flatbuffers are read where they lie aligned.
  std::vector<uint64_t> aligned((size + 7) / 8 + 1);
  std::memcpy(aligned.data(), data, size);
  WorkCounter loading;
  auto made = Tokenizer::create(
      {reinterpret_cast<const uint8_t *>(aligned.data()), size});
  loading.expectAtMost(kReadsOfStep * Budget::ofLoad(size).stepsLeft());
  if (!made) {
    expectOneLine(made.error());
    return 0;
  }
  std::string_view text = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa hello  "
                          "w\xC3\xA9rld <|end|>word 12\n\n\xEF\xB7\xBA";
  WorkCounter encoding;
  auto ids = (*made)->tokenize(text, {});
  encoding.expectAtMost(kReadsOfStep *
                        Budget::ofEncoding(text.size()).stepsLeft());
  std::vector<int32_t> all;
  if (ids)
    all = *ids;
  else
    expectOneLine(ids.error());
  for (int32_t id = 0; id < 300; ++id)
    all.push_back(id);
  WorkCounter decoding;
  auto decoded = (*made)->detokenize(all, false);
  Budget budget = Budget::ofDecoding();
  budget.grow(all.size());
  decoding.expectAtMost(kReadsOfStep * budget.stepsLeft());
  if (!decoded)
    expectOneLine(decoded.error());
  else if (makeValidUtf8(*decoded) != *decoded)
    __builtin_trap();
  return 0;
}
