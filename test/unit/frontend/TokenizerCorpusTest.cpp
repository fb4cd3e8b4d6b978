// The library's ids and texts for 2,145 strings and eight kinds of tokenizers
// (test/goldens/make_tokenizer_corpus.py): encoding, decoding at once, and
// decoding token by token.
#include "frontend/checkpoint/Json.h"
#include "frontend/tokenizer/TokenizerImport.h"

#include "runtime/src/tokenizer/Tokenizer.h"
#include "runtime/src/tokenizer/Utf8.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

using namespace effc::frontend;
using Tokens = std::vector<int32_t>;

namespace {

class TokenizerCorpusTest : public testing::TestWithParam<const char *> {
protected:
  static std::string pathOf(const std::string &file) {
    return std::string(EFFC_GOLDENS) + "/tokenizer/corpus/" + file;
  }

  void SetUp() override {
    std::string kind = GetParam();
    std::vector<std::string> remarks;
    auto segment = importTokenizer(pathOf(kind + ".json"), kind, 8192, remarks);
    ASSERT_TRUE(bool(segment)) << llvm::toString(segment.takeError());
    auto made = effc::rt::Tokenizer::create(*segment);
    ASSERT_TRUE(made) << made.error().message;
    tokenizer = std::move(*made);
    recorded = llvm::cantFail(readJsonObject(pathOf(kind + "_ids.json"), kind));
    JsonLimits limits;
    auto file = llvm::MemoryBuffer::getFile(pathOf("texts.json"));
    texts =
        llvm::cantFail(parseJson((*file)->getBuffer(), "texts.json", limits));
  }

  const JsonValue &get(llvm::StringRef key) {
    return *recorded.getObject()->find(key);
  }

  /// The bytes of a text, which may be no UTF-8.
  static std::string readText(const JsonValue &value) {
    if (const std::string *text = value.getString())
      return *text;
    const JsonObject &object = *value.getObject();
    if (const JsonValue *hex = object.find("hex"))
      return llvm::fromHex(*hex->getString());
    const JsonArray &repeat = *object.find("repeat")->getArray();
    std::string text;
    for (int64_t i = 0; i < *repeat[1].getInteger(); ++i)
      text += *repeat[0].getString();
    return text;
  }

  static Tokens readIds(const JsonValue &value) {
    Tokens ids;
    for (const JsonValue &id : *value.getArray())
      ids.push_back(*id.getInteger());
    return ids;
  }

  /// The text under `index`, or `fallback`.
  std::string lookUp(llvm::StringRef key, size_t index,
                     const std::string &fallback) {
    const JsonValue *found = get(key).getObject()->find(std::to_string(index));
    return found ? *found->getString() : fallback;
  }

  std::string stream(const Tokens &ids, bool skipSpecial) {
    effc::rt::DecodeStream decoder(*tokenizer, skipSpecial);
    std::string text;
    for (int round = 0; round < 2; ++round) { // it can be used anew
      text.clear();
      for (int32_t id : ids) {
        std::string piece(*decoder.push(id));
        // Whole characters only.
        EXPECT_EQ(effc::rt::makeValidUtf8(piece), piece);
        text += piece;
      }
      text += *decoder.finish();
    }
    return text;
  }

  void expectDecoded(const Tokens &ids, bool skipSpecial,
                     const std::string &expected) {
    EXPECT_EQ(*tokenizer->detokenize(ids, skipSpecial), expected)
        << testing::PrintToString(ids);
    EXPECT_EQ(stream(ids, skipSpecial), expected)
        << testing::PrintToString(ids);
  }

  std::unique_ptr<effc::rt::Tokenizer> tokenizer;
  JsonValue recorded, texts;
};

} // namespace

TEST_P(TokenizerCorpusTest, Encodes) {
  const JsonArray &ids = *get("ids").getArray();
  const JsonArray &all = *texts.getArray();
  ASSERT_GE(all.size(), 2000u);
  ASSERT_EQ(ids.size(), all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    std::string text = readText(all[i]);
    auto found = tokenizer->tokenize(text, {});
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(*found, readIds(ids[i])) << i << ": " << all[i].describe();
  }
}

TEST_P(TokenizerCorpusTest, Decodes) {
  const JsonArray &ids = *get("ids").getArray();
  const JsonArray &all = *texts.getArray();
  for (size_t i = 0; i < all.size(); ++i) {
    Tokens tokens = readIds(ids[i]);
    std::string text =
        lookUp("decoded", i, effc::rt::makeValidUtf8(readText(all[i])));
    expectDecoded(tokens, false, text);
    expectDecoded(tokens, true, lookUp("skipped", i, text));
  }
}

TEST_P(TokenizerCorpusTest, DecodesIdsInAnyOrder) {
  const JsonArray &cases = *get("random").getArray();
  EXPECT_GT(cases.size(), 300u);
  for (const JsonValue &value : cases) {
    const JsonArray &one = *value.getArray();
    expectDecoded(readIds(one[0]), false, *one[1].getString());
    expectDecoded(readIds(one[0]), true, *one[2].getString());
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, TokenizerCorpusTest,
                         testing::Values("neox", "llama", "llama3", "qwen",
                                         "deepseek", "t5", "gemma", "bert"),
                         [](const auto &info) { return info.param; });
