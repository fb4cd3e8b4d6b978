// Vocabularies without a tokenizer.json (test/goldens/make_tokenizer_files.py):
// ids and texts of the public library's encoder and of an independent matcher,
// and what is refused.
#include "frontend/tokenizer/VocabularyFile.h"
#include "frontend/checkpoint/Json.h"
#include "frontend/tokenizer/TokenizerImport.h"
#include "test/unit/frontend/Outcome.h"
#include "test/unit/frontend/TemporaryDirectory.h"

#include "runtime/src/tokenizer/Tokenizer.h"

#include "llvm/Support/Base64.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace effc::frontend;
using namespace effc::test;
using Tokens = std::vector<int32_t>;

namespace {

struct Case {
  const char *folder, *file;
};

class VocabularyFileTest : public testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    std::string folder =
        std::string(EFFC_GOLDENS "/tokenizer/files/") + GetParam().folder;
    EXPECT_EQ(llvm::cantFail(findVocabularyFile(folder)), GetParam().file);
    std::vector<std::string> remarks;
    std::string text =
        llvm::cantFail(readVocabularyFile(folder, GetParam().file, remarks));
    EXPECT_TRUE(remarks.empty()) << testing::PrintToString(remarks);
    auto segment = translateTokenizer(text, GetParam().file, 2048, remarks);
    ASSERT_TRUE(bool(segment)) << llvm::toString(segment.takeError());
    auto made = effc::rt::Tokenizer::create(*segment);
    ASSERT_TRUE(made) << made.error().message;
    tokenizer = std::move(*made);
    recorded = llvm::cantFail(readJsonObject(folder + "/ids.json", "ids.json"));
  }

  const JsonValue &get(llvm::StringRef key) {
    return *recorded.getObject()->find(key);
  }

  std::unique_ptr<effc::rt::Tokenizer> tokenizer;
  JsonValue recorded;
};

} // namespace

TEST_P(VocabularyFileTest, EncodesAndDecodes) {
  const JsonArray &texts = *get("texts").getArray();
  const JsonArray &ids = *get("ids").getArray();
  ASSERT_GE(texts.size(), 500u);
  ASSERT_EQ(ids.size(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    Tokens expected;
    for (const JsonValue &id : *ids[i].getArray())
      expected.push_back(int32_t(*id.getInteger()));
    const std::string &text = *texts[i].getString();
    auto found = tokenizer->tokenize(text, {});
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(*found, expected) << i << ": " << texts[i].describe();
    const JsonValue *other =
        get("decoded").getObject()->find(std::to_string(i));
    EXPECT_EQ(*tokenizer->detokenize(expected, /*skipSpecial=*/false),
              other ? *other->getString() : text);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Files, VocabularyFileTest,
    testing::Values(Case{"world", "rwkv_vocab_v20230424.txt"},
                    Case{"tiktoken", "small.tiktoken"},
                    Case{"kimi", "tiktoken.model"}),
    [](const auto &info) { return std::string(info.param.folder); });

/// A token for each byte but those from `end` on, ranked by them.
static std::string ranksOfBytes(int end = 256) {
  std::string text;
  for (int byte = 0; byte < end; ++byte)
    text += llvm::encodeBase64(std::string(1, char(byte))) + " " +
            std::to_string(byte) + "\n";
  return text;
}

TEST(VocabularyFiles, WrongLinesAreNamed) {
  std::vector<std::string> remarks;
  std::string bytes = ranksOfBytes();
  auto tiktoken = [&](llvm::StringRef text, llvm::StringRef settings = "") {
    return outcome(describeTiktoken(text, "a.tiktoken", settings, remarks));
  };
  constexpr const char *kExpected =
      "expects a token in base 64 and a rank of its own, but got ";
  EXPECT_EQ(tiktoken("QQ== 0\nQg== x\n"),
            std::string("a.tiktoken: line 2: ") + kExpected + "'Qg== x'");
  EXPECT_EQ(tiktoken("QQ== 0\n?? 1\n"),
            std::string("a.tiktoken: line 2: ") + kExpected + "'?? 1'");
  EXPECT_EQ(tiktoken("QQ== 0\nQg== 0\n"),
            std::string("a.tiktoken: line 2: ") + kExpected + "'Qg== 0'");
  EXPECT_EQ(
      tiktoken(std::string(4 * 400, 'Q') + " 0\n"),
      "a.tiktoken: line 1: expects a token of at most 1024 bytes, but got "
      "1200");
  EXPECT_EQ(tiktoken(bytes + "QQ== 256\n"),
            "a.tiktoken: token 256 is there twice");
  EXPECT_EQ(tiktoken(ranksOfBytes(253) + "QUI= 253\n"),
            "a.tiktoken: expects a token for each byte, but there is none for "
            "byte 253");
  EXPECT_EQ(tiktoken(bytes, R"({"added_tokens_decoder": {"0":
                     {"content": "<x>"}}})"),
            "tokenizer_config.json: token 0 '<x>' is one of 'a.tiktoken' "
            "already");
  EXPECT_EQ(
      tiktoken(bytes, R"({"added_tokens_decoder": {"1": {}}})"),
      "tokenizer_config.json: token 1: expects 'content' to be a text that "
      "is not empty");
  EXPECT_TRUE(remarks.empty());
  EXPECT_EQ(tiktoken(bytes), "success");
  ASSERT_EQ(remarks.size(), 1u);
  EXPECT_NE(remarks[0].find("no 'pat_str'"), std::string::npos);
}

TEST(VocabularyFiles, WorldsLiteralsAreRead) {
  auto world = [](llvm::StringRef text) {
    return outcome(describeWorld(text, "world.txt", ""));
  };
  // What is right is read as far as the bytes that are missing.
  EXPECT_EQ(world("1 '\\n' 1\n2 b'\\xe4\\xb8' 2\n3 \"'\" 1\n4 '\\u2028' 3\n"),
            "world.txt: expects a token for each byte, but there is none for "
            "byte 0");
  for (const char *line :
       {"1 'a' 2", "x 'a' 1", "1 a 1", "1 'a\" 1", "1 '\\q' 1", "1 '\\x4' 1",
        "1 '' 0", "-1 'a' 1",
        // Quotes end a literal, bytes are ASCII and know
        // no \\u, strings are text.
        "1 'a'b' 3", "1 b'\u00e4' 2", "1 b'\\u0041' 1", "1 '\\ud800' 3"})
    EXPECT_EQ(world(line),
              std::string("world.txt: line 1: expects an id of its own, a "
                          "string or bytes as Python writes them, and how many "
                          "bytes these are, but got '") +
                  line + "'");
  EXPECT_EQ(world("1 '\xe4' 1").find("world.txt: line 1: expects an id"), 0u);
}

TEST(VocabularyFiles, AreFoundByName) {
  TemporaryDirectory directory;
  EXPECT_EQ(llvm::cantFail(findVocabularyFile(directory.path)), "");
  // SentencePiece's, which is none of these.
  directory.write("tokenizer.model", "\n\x0e\n\x05<unk>");
  EXPECT_EQ(llvm::cantFail(findVocabularyFile(directory.path)), "");
  directory.write("tokenizer.model", "QQ== 0\nQg== 1\n");
  EXPECT_EQ(llvm::cantFail(findVocabularyFile(directory.path)),
            "tokenizer.model");
  directory.write("b.tiktoken", "QQ== 0\n");
  EXPECT_EQ(llvm::cantFail(findVocabularyFile(directory.path)), "b.tiktoken");
  directory.write("a.tiktoken", "QQ== 0\n");
  EXPECT_EQ(outcome(findVocabularyFile(directory.path)),
            "expects one vocabulary, but got 'a.tiktoken' and 'b.tiktoken'");
}
