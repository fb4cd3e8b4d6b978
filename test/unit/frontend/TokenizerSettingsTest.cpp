// What lies beside a tokenizer.json counts as the public library has it.
#include "frontend/tokenizer/TokenizerSettings.h"

#include "frontend/checkpoint/Json.h"
#include "frontend/checkpoint/MappedFile.h"
#include "frontend/tokenizer/TokenizerImport.h"
#include "runtime/src/tokenizer/Tokenizer.h"
#include "test/unit/frontend/Outcome.h"

#include <gtest/gtest.h>

using namespace effc::frontend;

static constexpr int64_t kVocabulary = 41;

/// A tokenizer.json without parts around its model, with `parts` before it.
static std::string makeTokenizer(const std::string &parts) {
  return "{\"version\": \"1.0\", " + parts +
         "\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"b\": 1, "
         "\"\u0120\": 2}, \"merges\": []}}";
}

/// What is said where `config` lies beside it; empty where it is taken.
static std::string complaint(const std::string &config,
                             const std::string &parts = "",
                             const std::string &names = "",
                             const std::string &added = "") {
  auto settings = readTokenizerSettings(config, names, added);
  if (!settings)
    return llvm::toString(settings.takeError());
  std::vector<std::string> remarks;
  auto bytes = translateTokenizer(makeTokenizer(parts), "tokenizer.json",
                                  kVocabulary, remarks, *settings);
  return bytes ? "" : llvm::toString(bytes.takeError());
}

TEST(TokenizerSettings, GiveTheLibrarysIds) {
  JsonValue recorded = llvm::cantFail(
      readJsonObject(EFFC_GOLDENS "/tokenizer/settings.json", "settings.json"));
  const JsonObject &object = *recorded.getObject();
  const JsonArray &texts = *object.find("texts")->getArray();
  const JsonArray &cases = *object.find("cases")->getArray();
  EXPECT_EQ(cases.size(), 8u);
  for (const JsonValue &value : cases) {
    const JsonObject &one = *value.getObject();
    const std::string &name = *one.find("name")->getString();
    auto textOf = [&](const char *file) {
      const JsonValue *text = one.find("files")->getObject()->find(file);
      return text ? *text->getString() : std::string();
    };
    TokenizerSettings settings = llvm::cantFail(readTokenizerSettings(
        textOf("tokenizer_config.json"), textOf("special_tokens_map.json"),
        textOf("added_tokens.json")));
    std::vector<std::string> remarks;
    auto tokenizer = effc::rt::Tokenizer::create(llvm::cantFail(
        translateTokenizer(*object.find("tokenizer")->getString(),
                           "tokenizer.json", kVocabulary, remarks, settings)));
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    const JsonArray &ids = *one.find("ids")->getArray();
    ASSERT_EQ(ids.size(), texts.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      std::vector<int32_t> expected;
      for (const JsonValue &id : *ids[i].getArray())
        expected.push_back(static_cast<int32_t>(*id.getInteger()));
      auto found = (*tokenizer)->tokenize(*texts[i].getString(), {});
      ASSERT_TRUE(found) << found.error().message;
      EXPECT_EQ(*found, expected) << name << ": " << texts[i].describe();
    }
  }
}

// The library would number it 3, the model's rows are for 5.
TEST(TokenizerSettings, RefuseIdsThatTheLibraryWouldNotGive) {
  EXPECT_EQ(complaint(R"({"added_tokens_decoder": {"5": {"content": "<x>"}}})"),
            "tokenizer_config.json: token '<x>' has id 5, but the library "
            "numbers it 3");
  EXPECT_EQ(complaint(R"({"added_tokens_decoder": {"1": {"content": "a"}}})"),
            "tokenizer_config.json: token 'a' has id 1, but the vocabulary "
            "gives it 0");
  EXPECT_EQ(complaint("", "", "", R"({"<x>": 4})"),
            "added_tokens.json: token '<x>' has id 4, but the library numbers "
            "it 3");
}

TEST(TokenizerSettings, RefuseWhatIsNoToken) {
  EXPECT_EQ(complaint(R"({"added_tokens_decoder": {"x": {"content": "<x>"}}})"),
            "tokenizer_config.json: expects 'added_tokens_decoder' to have an "
            "object for each id, but got 'x'");
  EXPECT_EQ(complaint(R"({"added_tokens_decoder": {"3": {"special": true}}})"),
            "tokenizer_config.json: token 3: expects 'content' to be a text "
            "that is not empty");
  EXPECT_EQ(complaint(R"({"eos_token": 3})"),
            "tokenizer_config.json: expects 'eos_token' to be a text or an "
            "object with 'content', but got 3");
  EXPECT_EQ(complaint("", "", "", R"({"<x>": "4"})"),
            "added_tokens.json: expects an id for each text, but got \"4\" for "
            "'<x>'");
}

TEST(TokenizerSettings, FollowNoContradiction) {
  constexpr const char *kPuts = R"({"add_prefix_space": true})",
                       *kLeaves = R"({"add_prefix_space": false})";
  auto byteLevel = [](const char *adds) {
    return std::string(R"("pre_tokenizer": {"type": "ByteLevel", )"
                       R"("add_prefix_space": )") +
           adds + R"(, "trim_offsets": true, "use_regex": false}, )";
  };
  EXPECT_EQ(complaint(kPuts, byteLevel("true")), "");
  EXPECT_EQ(complaint(kLeaves, byteLevel("false")), "");
  EXPECT_EQ(complaint(R"({"add_prefix_space": null})", byteLevel("true")), "");
  EXPECT_EQ(complaint(kPuts, byteLevel("false")),
            "tokenizer_config.json: 'add_prefix_space' is true, but "
            "tokenizer.json puts no space in front of a text: releases of the "
            "library differ in which of them counts; have the two files say "
            "the same");
  EXPECT_NE(complaint(kLeaves, byteLevel("true")), "");
  constexpr const char *kMetaspace =
      R"("pre_tokenizer": {"type": "Metaspace", "replacement": "_", )"
      R"("prepend_scheme": "always", "split": false}, )";
  EXPECT_EQ(complaint(kPuts, kMetaspace), "");
  EXPECT_NE(complaint(kLeaves, kMetaspace), "");
  // The library passes it over where there is nothing that could put one.
  EXPECT_EQ(complaint(kPuts), "");
}
