// Compiler and runtime together against the library's recorded results, id for
// id: the runtime reads the segment that the frontend makes of a
// tokenizer.json.
#include "frontend/checkpoint/Json.h"
#include "frontend/checkpoint/MappedFile.h"
#include "frontend/tokenizer/TokenizerImport.h"

#include "runtime/src/tokenizer/Tokenizer.h"

#include <gtest/gtest.h>

using namespace effc::frontend;

namespace {

struct Recording {
  const char *name, *tokenizer, *cases;
};

class RecordedTokenizerTest : public testing::TestWithParam<Recording> {
protected:
  static std::string goldens(const char *file) {
    return std::string(EFFC_GOLDENS) + "/" + file;
  }
  static const std::string &getText(const JsonObject &object,
                                    llvm::StringRef key) {
    return *object.find(key)->getString();
  }
  static std::vector<int32_t> getIds(const JsonObject &object) {
    std::vector<int32_t> ids;
    for (const JsonValue &id : *object.find("ids")->getArray())
      ids.push_back(*id.getInteger());
    return ids;
  }

  void SetUp() override {
    std::vector<std::string> remarks;
    std::vector<uint8_t> segment = llvm::cantFail(importTokenizer(
        goldens(GetParam().tokenizer), "tokenizer.json", 2048, remarks));
    auto made = effc::rt::Tokenizer::create(segment);
    ASSERT_TRUE(made) << made.error().message;
    tokenizer = std::move(*made);
    cases = llvm::cantFail(readJsonObject(goldens(GetParam().cases), "cases"));
  }

  /// The cases under `key`, each an object.
  const JsonArray &getCases(llvm::StringRef key) {
    return *cases.getObject()->find(key)->getArray();
  }

  std::unique_ptr<effc::rt::Tokenizer> tokenizer;
  JsonValue cases;
};

} // namespace

TEST_P(RecordedTokenizerTest, Encodes) {
  EXPECT_GT(getCases("encode").size(), 500u);
  for (const JsonValue &value : getCases("encode")) {
    const JsonObject &recorded = *value.getObject();
    auto found = tokenizer->tokenize(getText(recorded, "text"), {});
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(*found, getIds(recorded)) << getText(recorded, "text");
  }
}

TEST_P(RecordedTokenizerTest, Decodes) {
  for (const char *key : {"encode", "decode"})
    for (const JsonValue &value : getCases(key)) {
      const JsonObject &recorded = *value.getObject();
      for (bool skipSpecial : {false, true})
        EXPECT_EQ(*tokenizer->detokenize(getIds(recorded), skipSpecial),
                  getText(recorded,
                          skipSpecial ? "decoded_without_special" : "decoded"));
    }
}

INSTANTIATE_TEST_SUITE_P(
    Goldens, RecordedTokenizerTest,
    testing::Values(Recording{"sample", "sample/tokenizer.json",
                              "tokenizer/cases.json"},
                    Recording{"mixed", "tokenizer/mixed_tokenizer.json",
                              "tokenizer/mixed_cases.json"}),
    [](const auto &info) { return info.param.name; });

// What stands around the vocabulary: splitters, added tokens, a template. The
// vocabulary's merges cross all kinds of characters, so a wrong cut shows.
TEST(RecordedPipelinesTest, Encode) {
  std::string base = llvm::cantFail(
      readTextFile(EFFC_GOLDENS "/tokenizer/mixed_tokenizer.json",
                   "mixed_tokenizer.json", 1 << 20));
  std::string model = base.substr(base.find("\"model\""));
  JsonValue recorded = llvm::cantFail(readJsonObject(
      EFFC_GOLDENS "/tokenizer/pipelines.json", "pipelines.json"));
  const JsonObject &object = *recorded.getObject();
  const JsonArray &texts = *object.find("texts")->getArray();
  const JsonArray &pipelines = *object.find("pipelines")->getArray();
  EXPECT_EQ(pipelines.size(), 18u);
  for (const JsonValue &value : pipelines) {
    const JsonObject &pipeline = *value.getObject();
    const std::string &name = *pipeline.find("name")->getString();
    std::string file = "{" + *pipeline.find("parts")->getString() + "," + model;
    std::vector<std::string> remarks;
    std::vector<uint8_t> segment =
        llvm::cantFail(translateTokenizer(file, name, 2048, remarks));
    auto tokenizer = effc::rt::Tokenizer::create(segment);
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    const JsonArray &ids = *pipeline.find("ids")->getArray();
    ASSERT_EQ(ids.size(), texts.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      std::vector<int32_t> expected;
      for (const JsonValue &id : *ids[i].getArray())
        expected.push_back(*id.getInteger());
      auto found = (*tokenizer)->tokenize(*texts[i].getString(), {});
      ASSERT_TRUE(found) << found.error().message;
      EXPECT_EQ(*found, expected) << name << ": " << texts[i].describe();
    }
  }
}

// Each part on its own: normalizers, pre-tokenizers, models' options, added
// tokens, decoders.
TEST(RecordedComponentsTest, EncodeAndDecode) {
  JsonLimits limits;
  limits.bytes = uint64_t(64) << 20;
  JsonValue recorded = llvm::cantFail(readJsonObject(
      EFFC_GOLDENS "/tokenizer/components.json", "components.json", limits));
  const JsonObject &object = *recorded.getObject();
  const JsonArray &texts = *object.find("texts")->getArray();
  const JsonArray &pipelines = *object.find("pipelines")->getArray();
  EXPECT_GT(pipelines.size(), 80u);
  for (const JsonValue &value : pipelines) {
    const JsonObject &pipeline = *value.getObject();
    const std::string &name = *pipeline.find("name")->getString();
    std::vector<std::string> remarks;
    auto segment = translateTokenizer(*pipeline.find("file")->getString(), name,
                                      2048, remarks);
    ASSERT_TRUE(bool(segment)) << llvm::toString(segment.takeError());
    auto tokenizer = effc::rt::Tokenizer::create(*segment);
    ASSERT_TRUE(tokenizer) << name << ": " << tokenizer.error().message;
    const JsonArray &ids = *pipeline.find("ids")->getArray();
    const JsonArray &decoded = *pipeline.find("decoded")->getArray();
    ASSERT_EQ(ids.size(), texts.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      std::vector<int32_t> expected;
      for (const JsonValue &id : *ids[i].getArray())
        expected.push_back(*id.getInteger());
      auto found = (*tokenizer)->tokenize(*texts[i].getString(), {});
      ASSERT_TRUE(found) << name << ": " << found.error().message;
      EXPECT_EQ(*found, expected) << name << ": " << texts[i].describe();
      EXPECT_EQ(*(*tokenizer)->detokenize(expected, false),
                *decoded[i].getString())
          << name << ": " << texts[i].describe();
      effc::rt::DecodeStream stream(**tokenizer, false);
      std::string streamed;
      for (int32_t id : expected)
        streamed += *stream.push(id);
      streamed += *stream.finish();
      EXPECT_EQ(streamed, *decoded[i].getString()) << name;
    }
  }
}
