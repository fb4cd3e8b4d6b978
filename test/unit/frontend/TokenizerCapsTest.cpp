// What importer and loader both refuse (runtime/schema/TokenizerLimits.h): what is
// just allowed loads, one more is named.

#include "test/unit/frontend/ByteTokenizer.h"

#include "runtime/schema/TokenizerLimits.h"
#include "runtime/src/tokenizer/Tokenizer.h"

#include "llvm/ADT/StringExtras.h"

using namespace effc;
using namespace effc::frontend;

namespace {
class TokenizerCapsTest : public ByteTokenizerTest {
protected:
  /// "success", or why either side refuses.
  std::string loading() {
    auto segment =
        translateTokenizer(text(), "tokenizer.json", kVocabulary, remarks);
    if (!segment)
      return llvm::toString(segment.takeError());
    auto made = rt::Tokenizer::create(*segment);
    return made ? "success" : "loader: " + made.error().message;
  }
  std::string loadingWith(const std::string &part, const std::string &value) {
    auto kept = parts;
    parts[part] = value;
    std::string found = loading();
    parts = kept;
    return found;
  }
  std::string loadingOption(const std::string &key, const std::string &value) {
    auto kept = options;
    options[key] = value;
    std::string found = loading();
    options = kept;
    return found;
  }
};

std::string letters(size_t count, char letter = 'z') {
  return std::string(count, letter);
}
std::string list(size_t count, const std::string &element) {
  std::string all;
  for (size_t i = 0; i < count; ++i)
    all += (i ? "," : "") + element;
  return "[" + all + "]";
}
} // namespace

TEST_F(TokenizerCapsTest, IdsAroundAText) {
  auto around = [](size_t specials, size_t ids) {
    std::string special = R"({"SpecialToken":{"id":"e"}})";
    std::string single = list(specials, special);
    single.insert(single.size() - 1, R"(,{"Sequence":{"id":"A"}})");
    return R"({"type":"TemplateProcessing","single":)" + single +
           R"(,"special_tokens":{"e":{"ids":)" + list(ids, "7") + "}}}";
  };
  EXPECT_EQ(loadingWith("post_processor", around(2, 2048)), "success");
  std::string refused =
      refusal("post_processor 'TemplateProcessing': expects at most 4096 ids "
              "around a text, but got more");
  EXPECT_EQ(loadingWith("post_processor", around(1, 4097)), refused);
  // Thousands by thousands, which were 2.16 GB.
  EXPECT_EQ(loadingWith("post_processor", around(3000, 3000)), refused);
}

TEST_F(TokenizerCapsTest, Steps) {
  auto sequence = [](const char *key, size_t count, const std::string &step) {
    return std::string(R"({"type":"Sequence",")") + key +
           "\":" + list(count, step) + "}";
  };
  std::string lower = R"({"type":"Lowercase"})", fuse = R"({"type":"Fuse"})";
  std::string refused = refusal("expects at most 64 steps in a row");
  EXPECT_EQ(loadingWith("normalizer", sequence("normalizers", 64, lower)),
            "success");
  EXPECT_EQ(loadingWith("normalizer", sequence("normalizers", 65, lower)),
            refused);
  EXPECT_EQ(loadingWith("decoder", sequence("decoders", 64, fuse)), "success");
  EXPECT_EQ(loadingWith("decoder", sequence("decoders", 100000, fuse)),
            refused);
}

TEST_F(TokenizerCapsTest, SequencesInSequences) {
  std::string nested = R"({"type":"Lowercase"})";
  for (int i = 0; i < 5000; ++i)
    nested = R"({"type":"Sequence","normalizers":[)" + nested + "]}";
  EXPECT_EQ(loadingWith("normalizer", nested),
            refusal("expects at most 64 levels of nesting, but got more"));
}

TEST_F(TokenizerCapsTest, TextsOfSteps) {
  auto replace = [](const char *part, size_t bytes) {
    return std::string(R"({"type":"Replace","pattern":{"String":"a"},")") +
           part + "\":\"" + letters(bytes) + "\"}";
  };
  EXPECT_EQ(loadingWith("normalizer", replace("content", 65536)), "success");
  EXPECT_EQ(loadingWith("normalizer", replace("content", 65537)),
            refusal("normalizer 'Replace': expects 'content' to be a string of "
                    "at most 65536 bytes, but got 65537"));
  EXPECT_EQ(loadingWith("normalizer", R"({"type":"Prepend","prepend":")" +
                                          letters(65538) + "\"}"),
            refusal("normalizer 'Prepend': expects 'prepend' to be a string of "
                    "at most 65536 bytes, but got 65538"));
  EXPECT_EQ(loadingWith("decoder", replace("content", 65539)),
            refusal("decoder 'Replace': expects 'content' to be a string of at "
                    "most 65536 bytes, but got 65539"));
  EXPECT_EQ(
      loadingWith("decoder",
                  R"({"type":"Replace","content":"b","pattern":{"String":")" +
                      letters(65540) + "\"}}"),
      refusal("decoder 'Replace': expects 'pattern' to be a string of at "
              "most 65536 bytes, but got 65540"));
  EXPECT_EQ(loadingWith("decoder", R"({"type":"BPEDecoder","suffix":")" +
                                       letters(65541) + "\"}"),
            refusal("decoder 'BPEDecoder': expects 'suffix' to be a string of "
                    "at most 65536 bytes, but got 65541"));
  EXPECT_EQ(loadingWith("decoder",
                        R"({"type":"WordPiece","cleanup":true,"prefix":")" +
                            letters(65542) + "\"}"),
            refusal("decoder 'WordPiece': expects 'prefix' to be a string of "
                    "at most 65536 bytes, but got 65542"));
}

TEST_F(TokenizerCapsTest, Affixes) {
  auto quoted = [](size_t bytes) { return "\"" + letters(bytes) + "\""; };
  options["merges"] = "[]";
  EXPECT_EQ(loadingOption("continuing_subword_prefix", quoted(1024)),
            "success");
  EXPECT_EQ(loadingOption("continuing_subword_prefix", quoted(1025)),
            refusal("model: expects 'continuing_subword_prefix' to be a string "
                    "of at most 1024 bytes, but got 1025"));
  EXPECT_EQ(loadingOption("end_of_word_suffix", quoted(100000)),
            refusal("model: expects 'end_of_word_suffix' to be a string of at "
                    "most 1024 bytes, but got 100000"));
}

TEST_F(TokenizerCapsTest, Tokens) {
  vocabulary[letters(1 << 20)] = "258";
  EXPECT_EQ(loading(), "success");
  vocabulary.erase(letters(1 << 20));
  vocabulary[letters((1 << 20) + 1)] = "258";
  EXPECT_EQ(loading(), refusal("token 258 has 1048577 bytes, but at most "
                               "1048576 are possible"));
}

// "\s" is six times as long in the runtime's syntax.
TEST_F(TokenizerCapsTest, PatternsThatGrow) {
  auto split = [](size_t count) {
    std::string pattern;
    for (size_t i = 0; i < count; ++i)
      pattern += "\\\\s";
    return R"({"type":"Split","behavior":"Isolated","invert":false,"pattern":{"Regex":")" +
           pattern + "\"}}";
  };
  EXPECT_EQ(loadingWith("pre_tokenizer", split(4000)), "success");
  EXPECT_NE(loadingWith("pre_tokenizer", split(6000))
                .find("expects at most 65536 bytes once it is written for the "
                      "runtime, but got 90000"),
            std::string::npos);
}
