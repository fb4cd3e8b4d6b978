// vocab.json and merges.txt give the ids of the public library's classes.
#include "frontend/tokenizer/MergeFiles.h"

#include "frontend/checkpoint/Json.h"
#include "frontend/checkpoint/MappedFile.h"
#include "frontend/tokenizer/TokenizerImport.h"
#include "runtime/src/tokenizer/Tokenizer.h"

#include <gtest/gtest.h>

using namespace effc::frontend;

TEST(MergeFiles, GiveTheLibrarysIds) {
  JsonValue recorded = llvm::cantFail(
      readJsonObject(EFFC_GOLDENS "/tokenizer/merges.json", "merges.json"));
  const JsonObject &object = *recorded.getObject();
  auto textOf = [](const JsonObject &from, const char *key) {
    return *from.find(key)->getString();
  };
  const JsonArray &texts = *object.find("texts")->getArray();
  const JsonArray &cases = *object.find("cases")->getArray();
  EXPECT_EQ(cases.size(), 4u);
  for (const JsonValue &value : cases) {
    const JsonObject &one = *value.getObject();
    TokenizerSettings settings =
        llvm::cantFail(readTokenizerSettings(textOf(one, "config"), "", ""));
    std::string file = llvm::cantFail(
        describeMerges(textOf(object, "vocab"), textOf(object, "merges"),
                       /*modelType=*/"", settings));
    std::vector<std::string> remarks;
    auto tokenizer = effc::rt::Tokenizer::create(llvm::cantFail(
        translateTokenizer(file, "vocab.json", 340, remarks, settings)));
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    const JsonArray &ids = *one.find("ids")->getArray();
    ASSERT_EQ(ids.size(), texts.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      std::vector<int32_t> expected;
      for (const JsonValue &id : *ids[i].getArray())
        expected.push_back(static_cast<int32_t>(*id.getInteger()));
      auto found = (*tokenizer)->tokenize(*texts[i].getString(), {});
      ASSERT_TRUE(found) << found.error().message;
      EXPECT_EQ(*found, expected)
          << textOf(one, "config") << ": " << texts[i].describe();
    }
  }
}

/// What is said of a vocabulary; empty where it is taken.
static std::string complaint(const std::string &config, const char *modelType,
                             const char *vocabulary = R"({"a": 0})",
                             const char *merges = "#version: 0.2\n") {
  TokenizerSettings settings =
      llvm::cantFail(readTokenizerSettings(config, "", ""));
  auto text = describeMerges(vocabulary, merges, modelType, settings);
  return text ? "" : llvm::toString(text.takeError());
}

TEST(MergeFiles, NeedAClassThatIsKnown) {
  EXPECT_EQ(complaint("", "gpt2"), "");
  EXPECT_EQ(complaint("", "qwen3"), "");
  EXPECT_EQ(complaint(R"({"tokenizer_class": "GPT2TokenizerFast"})", "x"), "");
  constexpr const char *kRest =
      ": how a text is cut before the merges is not known; save the tokenizer "
      "with the public library, which writes a tokenizer.json";
  constexpr const char *kStart =
      "vocab.json, merges.txt: expects 'tokenizer_class' of "
      "tokenizer_config.json to be one of GPT2Tokenizer, Qwen2Tokenizer, but "
      "got ";
  EXPECT_EQ(complaint(R"({"tokenizer_class": "CLIPTokenizer"})", "gpt2"),
            std::string(kStart) + "'CLIPTokenizer'" + kRest);
  EXPECT_EQ(complaint("", "mamba"),
            std::string(kStart) + "no class for model type 'mamba'" + kRest);
}

TEST(MergeFiles, AreReadStrictly) {
  EXPECT_EQ(complaint("", "gpt2", "[]"),
            "vocab.json: expects an object, but got an array of 0");
  EXPECT_EQ(complaint("", "gpt2", R"({"a": "0"})"),
            "vocab.json: expects the id of token 'a' to be an integer, but got "
            "\"0\"");
  EXPECT_EQ(complaint(R"({"add_bos_token": true})", "gpt2"),
            "tokenizer_config.json: a text is to have its bos_token around it, "
            "but vocab.json has none");
  EXPECT_EQ(complaint("", "gpt2", R"({"a": 0})", "#version: 0.2\n\na \xFF\n"),
            "merges.txt: line 3 is not UTF-8");
}
