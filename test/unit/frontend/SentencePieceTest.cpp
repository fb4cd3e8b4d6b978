// Files of SentencePiece give the ids of the public library.
#include "frontend/tokenizer/SentencePiece.h"

#include "frontend/checkpoint/Json.h"
#include "frontend/checkpoint/MappedFile.h"
#include "frontend/tokenizer/SentencePieceModel.h"
#include "frontend/tokenizer/TokenizerImport.h"
#include "runtime/src/tokenizer/Tokenizer.h"
#include "test/unit/frontend/Outcome.h"
#include "test/unit/frontend/SentencePieceImage.h"

#include "llvm/Support/Base64.h"

#include <gtest/gtest.h>

using namespace effc::frontend;
using effc::test::outcome;

namespace {

std::string decode(const JsonValue &text) {
  std::vector<char> bytes;
  llvm::cantFail(llvm::decodeBase64(*text.getString(), bytes));
  return std::string(bytes.begin(), bytes.end());
}

/// The bytes of a recorded model: where there is a first half, the pieces of
/// the 256 bytes stand between the two.
std::string readModel(const JsonValue &halves) {
  const JsonArray &two = *halves.getArray();
  std::string bytes = decode(two[0]);
  if (!bytes.empty())
    for (unsigned byte = 0; byte < 256; ++byte) {
      char text[8];
      snprintf(text, sizeof(text), "<0x%02X>", byte);
      bytes += makePiece(text, PieceType::Byte);
    }
  return bytes + decode(two[1]);
}

struct Recorded {
  JsonValue file = llvm::cantFail(readJsonObject(
      EFFC_GOLDENS "/tokenizer/sentencepiece.json", "sentencepiece.json"));
  const JsonObject &object = *file.getObject();
  const JsonArray &texts = *object.find("texts")->getArray();
  const JsonArray &cases = *object.find("cases")->getArray();
};

/// What is made of a file; `remarks` tells what was left aside.
llvm::Expected<std::string> describe(llvm::StringRef bytes,
                                     const std::string &config,
                                     llvm::StringRef modelType = "llama",
                                     llvm::StringRef name = "tokenizer.model") {
  TokenizerSettings settings =
      llvm::cantFail(readTokenizerSettings(config, "", ""));
  std::vector<std::string> remarks;
  return describeSentencePiece(bytes, name, modelType, settings, remarks);
}

} // namespace

TEST(SentencePiece, GivesTheLibrarysIds) {
  Recorded recorded;
  EXPECT_EQ(recorded.cases.size(), 9u);
  for (const JsonValue &value : recorded.cases) {
    const JsonObject &one = *value.getObject();
    auto textOf = [&](const char *key) {
      const std::string *text = one.find(key)->getString();
      return text ? *text : std::string();
    };
    TokenizerSettings settings =
        llvm::cantFail(readTokenizerSettings(textOf("config"), "", ""));
    std::string bytes = readModel(
        *recorded.object.find("models")->getObject()->find(textOf("model")));
    std::vector<std::string> remarks;
    std::string file = llvm::cantFail(describeSentencePiece(
        bytes, textOf("file"), textOf("type"), settings, remarks));
    auto segment =
        translateTokenizer(file, textOf("file"), 320, remarks, settings);
    ASSERT_TRUE(bool(segment)) << llvm::toString(segment.takeError());
    auto made = effc::rt::Tokenizer::create(*segment);
    ASSERT_TRUE(made) << made.error().message;
    const effc::rt::Tokenizer &tokenizer = **made;
    const JsonArray &ids = *one.find("ids")->getArray(),
                    &decoded = *one.find("decoded")->getArray();
    ASSERT_EQ(ids.size(), recorded.texts.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      std::vector<int32_t> expected;
      for (const JsonValue &id : *ids[i].getArray())
        expected.push_back(static_cast<int32_t>(*id.getInteger()));
      auto found = tokenizer.tokenize(*recorded.texts[i].getString(), {});
      ASSERT_TRUE(found) << found.error().message;
      std::string where = textOf("model") + ", " + textOf("type") + ", " +
                          textOf("config") + ": " +
                          recorded.texts[i].describe();
      EXPECT_EQ(*found, expected) << where;
      auto text = tokenizer.detokenize(expected, /*skipSpecial=*/false);
      ASSERT_TRUE(text) << text.error().message;
      EXPECT_EQ(*text, *decoded[i].getString()) << where;
    }
  }
}

// The library's table of model types has GemmaTokenizer for these.
TEST(SentencePiece, IsGemmasWhereTheModelIs) {
  Recorded recorded;
  std::string bytes =
      readModel(*recorded.object.find("models")->getObject()->find("gemma"));
  std::string named = llvm::cantFail(
      describe(bytes, R"({"tokenizer_class": "GemmaTokenizer"})"));
  for (const char *type : {"gemma2", "gemma3_text", "recurrent_gemma"})
    EXPECT_EQ(llvm::cantFail(describe(bytes, "", type)), named) << type;
  EXPECT_NE(llvm::cantFail(describe(bytes, "", "llama")), named);
}

TEST(SentencePiece, NeedsAClassThatIsKnown) {
  std::string bytes = makePiece("<unk>", PieceType::Unknown) + makePiece("a");
  EXPECT_EQ(outcome(describe(bytes, R"({"tokenizer_class": "XGLMTokenizer"})")),
            "tokenizer.model: expects 'tokenizer_class' of "
            "tokenizer_config.json to be one of LlamaTokenizer, "
            "GemmaTokenizer, T5Tokenizer, PreTrainedTokenizer, "
            "TokenizersBackend, but got 'XGLMTokenizer': what that class makes "
            "of the file is not known; save the tokenizer with the public "
            "library, which writes a tokenizer.json, or name "
            "TokenizersBackend to have the ids of SentencePiece itself");
  // The default of a file that does not say is Unigram.
  EXPECT_EQ(
      outcome(describe(bytes, R"({"tokenizer_class": "LlamaTokenizer"})")),
      "tokenizer.model: LlamaTokenizer reads a BPE model, but got a "
      "Unigram one, of which releases of the library make different ids; "
      "name 'TokenizersBackend' as 'tokenizer_class' in "
      "tokenizer_config.json to have those of SentencePiece");
  EXPECT_EQ(outcome(describe(bytes, "", "llama", "spiece.model")),
            "PreTrainedTokenizer reads its vocabulary from 'tokenizer.model', "
            "but the tokenizer lies in 'spiece.model'; rename it, or name in "
            "tokenizer_config.json the 'tokenizer_class' that reads it");
  EXPECT_EQ(outcome(describe(bytes + makeMessage(2, makeNumber(3, 4)), "")),
            "tokenizer.model: a character model is not supported; supported: "
            "Unigram, BPE; save the tokenizer with the public library, which "
            "writes a tokenizer.json");
  EXPECT_EQ(outcome(describe(bytes + makeMessage(2, makeNumber(24, 1)), "")),
            "tokenizer.model: spaces at the ends of words "
            "(treat_whitespace_as_suffix) are not supported; save the "
            "tokenizer with the public library, which writes a tokenizer.json");
}

// 16,385 pieces of 512 bytes: 2^32 and 2^18 ways to look up.
TEST(SentencePiece, BoundsTheWorkOnMerges) {
  std::string bytes = makeMessage(2, makeNumber(3, 2));
  for (unsigned i = 0; i < 16385; ++i) {
    std::string text = std::to_string(i);
    bytes += makePiece(std::string(512 - text.size(), 'x') + text);
  }
  EXPECT_EQ(outcome(describe(bytes, "")),
            "tokenizer.model: expects pieces whose squared sizes sum to at "
            "most 4294967296, but got 4295229440");
}
