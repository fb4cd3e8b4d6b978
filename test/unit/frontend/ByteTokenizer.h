// A tokenizer.json to be changed one part at a time.
#ifndef EFFC_TEST_UNIT_FRONTEND_BYTETOKENIZER_H
#define EFFC_TEST_UNIT_FRONTEND_BYTETOKENIZER_H

#include "frontend/tokenizer/ByteAlphabet.h"
#include "frontend/tokenizer/TokenizerImport.h"
#include "test/unit/frontend/Outcome.h"

#include "runtime/schema/tokenizer_generated.h"

#include <map>

namespace effc::frontend {

inline constexpr int64_t kVocabulary = 300;

/// A byte-level tokenizer of the 256 bytes (ids 0 to 255 by value), "ab" (256)
/// and "abc" (257), to be changed one part at a time.
class ByteTokenizerTest : public testing::Test {
protected:
  ByteTokenizerTest() {
    for (int byte = 0; byte < 256; ++byte)
      vocabulary[escaped(getByteCharacter(byte))] = std::to_string(byte);
    vocabulary["ab"] = "256";
    vocabulary["abc"] = "257";
  }

  static std::string escaped(const std::string &text) {
    if (text == "\"" || text == "\\")
      return "\\" + text;
    return text;
  }

  std::string text() const {
    std::string tokens;
    for (const auto &[token, id] : vocabulary)
      tokens += (tokens.empty() ? "\"" : ",\"") + token + "\":" + id;
    std::string model = "\"type\":\"BPE\",\"vocab\":{" + tokens + "}";
    for (const auto &[key, value] : options)
      model += ",\"" + key + "\":" + value;
    std::string all = "{\"model\":{" + model + "}";
    for (const auto &[key, value] : parts)
      all += ",\"" + key + "\":" + value;
    return all + "}";
  }

  artifact::TokenizerT import() {
    remarks.clear();
    bytes = llvm::cantFail(
        translateTokenizer(text(), "tokenizer.json", kVocabulary, remarks));
    flatbuffers::Verifier verifier(bytes.data(), bytes.size());
    EXPECT_TRUE(artifact::VerifyTokenizerBuffer(verifier));
    artifact::TokenizerT tokenizer;
    artifact::GetTokenizer(bytes.data())->UnPackTo(&tokenizer);
    return tokenizer;
  }
  std::string importing() {
    return test::outcome(
        translateTokenizer(text(), "tokenizer.json", kVocabulary, remarks));
  }
  /// What comes of the import with one part replaced.
  std::string importingWith(const std::string &part, const std::string &value) {
    auto kept = parts;
    parts[part] = value;
    std::string found = importing();
    parts = kept;
    return found;
  }
  std::string importingOption(const std::string &key,
                              const std::string &value) {
    auto kept = options;
    options[key] = value;
    std::string found = importing();
    options = kept;
    return found;
  }
  std::string importingToken(const std::string &token, const std::string &id) {
    auto kept = vocabulary;
    vocabulary[token] = id;
    std::string found = importing();
    vocabulary = kept;
    return found;
  }
  static std::string refusal(llvm::StringRef message) {
    return ("tokenizer.json: " + message).str();
  }

  /// Keys of the vocabulary are written as they stand inside JSON's quotes.
  std::map<std::string, std::string> vocabulary;
  std::map<std::string, std::string> options = {
      {"merges", R"(["a b", "ab c"])"}};
  std::map<std::string, std::string> parts = {
      {"version", "\"1.0\""},
      {"added_tokens", "[]"},
      {"normalizer", "null"},
      {"pre_tokenizer",
       R"({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":false})"},
      {"post_processor", "null"},
      {"decoder", R"({"type":"ByteLevel"})"}};
  std::vector<uint8_t> bytes;
  std::vector<std::string> remarks;
};

} // namespace effc::frontend

#endif // EFFC_TEST_UNIT_FRONTEND_BYTETOKENIZER_H
