// Where a checkpoint's chat templates lie, and that they arrive in the runtime.
#include "frontend/tokenizer/ChatTemplates.h"

#include "frontend/tokenizer/TokenizerImport.h"
#include "runtime/src/tokenizer/Tokenizer.h"
#include "test/unit/frontend/TemporaryDirectory.h"

#include <gtest/gtest.h>

using namespace effc;
using namespace effc::frontend;
using namespace effc::test;
using Pairs = std::vector<std::pair<std::string, std::string>>;

static Pairs pairs(llvm::ArrayRef<frontend::ChatTemplate> templates) {
  Pairs all;
  for (const frontend::ChatTemplate &each : templates)
    all.push_back({each.name, each.source});
  return all;
}

/// Those of a directory; an error as one that is called so.
static Pairs read(const TemporaryDirectory &directory) {
  auto settings = readTokenizerSettings(directory.path);
  if (!settings)
    return {{"error", llvm::toString(settings.takeError())}};
  return pairs(settings->chatTemplates);
}

TEST(ChatTemplates, LieInTheSettings) {
  TemporaryDirectory directory;
  EXPECT_EQ(read(directory), Pairs());
  directory.write("tokenizer_config.json", R"({"chat_template": "{{ x }}"})");
  EXPECT_EQ(read(directory), (Pairs{{"default", "{{ x }}"}}));
  directory.write("tokenizer_config.json", R"({"chat_template": null})");
  EXPECT_EQ(read(directory), Pairs());
  directory.write("tokenizer_config.json", R"({"chat_template": [
      {"name": "tool_use", "template": "t"},
      {"name": "default", "template": "d"},
      {"name": "tool_use", "template": "u"}]})");
  EXPECT_EQ(read(directory), (Pairs{{"tool_use", "u"}, {"default", "d"}}));
}

TEST(ChatTemplates, OfFilesHideThoseOfTheSettings) {
  TemporaryDirectory directory;
  directory.write("tokenizer_config.json", R"({"chat_template": "{{ x }}"})");
  directory.write("chat_template.jinja", "a\r\nb\rc");
  EXPECT_EQ(read(directory), (Pairs{{"default", "a\nb\nc"}}));
  llvm::sys::fs::create_directory(directory.file("additional_chat_templates"));
  directory.write("additional_chat_templates/rag.jinja", "r");
  directory.write("additional_chat_templates/a.jinja", "e");
  directory.write("additional_chat_templates/notes.txt", "n");
  EXPECT_EQ(read(directory),
            (Pairs{{"default", "a\nb\nc"}, {"a", "e"}, {"rag", "r"}}));
  // All of them are what the model was made from.
  EXPECT_EQ(
      llvm::cantFail(readTokenizerSettings(directory.path)).files,
      (std::vector<std::string>{"tokenizer_config.json", "chat_template.jinja",
                                "additional_chat_templates/a.jinja",
                                "additional_chat_templates/rag.jinja"}));
}

TEST(ChatTemplates, WrongOnesAreRefused) {
  TemporaryDirectory directory;
  auto complaint = [&](llvm::StringRef config) {
    directory.write("tokenizer_config.json", config);
    return read(directory).at(0).second;
  };
  EXPECT_EQ(complaint(R"({"chat_template": 3})"),
            "tokenizer_config.json: expects 'chat_template' to be a text or a "
            "list of templates, but got 3");
  EXPECT_EQ(complaint(R"({"chat_template": [{"name": "a"}]})"),
            "tokenizer_config.json: expects 'chat_template' to be objects with "
            "'name' and 'template', but got an object");
  directory.write("tokenizer_config.json", "{}");
  directory.write("chat_template.jinja", std::string((1 << 20) + 1, 'x'));
  EXPECT_NE(read(directory).at(0).second.find("chat_template.jinja"),
            std::string::npos);
}

TEST(ChatTemplates, ArriveInTheRuntime) {
  TokenizerSettings settings;
  settings.named = {{"bos_token", "a"}};
  settings.chatTemplates = {{"default", "{{ bos_token }}"}, {"tools", "t"}};
  std::string text = "{\"version\": \"1.0\", \"model\": {\"type\": \"BPE\", "
                     "\"vocab\": {\"a\": 0, \"b\": 1}, \"merges\": []}}";
  std::vector<std::string> remarks;
  auto translate = [&] {
    return translateTokenizer(text, "tokenizer.json", 2, remarks, settings);
  };
  auto bytes = translate();
  ASSERT_TRUE(bool(bytes)) << llvm::toString(bytes.takeError());
  auto tokenizer = rt::Tokenizer::create(*bytes);
  ASSERT_TRUE(bool(tokenizer)) << tokenizer.error().message;
  ASSERT_EQ((*tokenizer)->templates().size(), 2u);
  EXPECT_EQ((*tokenizer)->templates()[0].source, "{{ bos_token }}");
  EXPECT_EQ((*tokenizer)->templates()[1].name, "tools");
  EXPECT_EQ(*(*tokenizer)->namedToken("bos_token"), "a");

  settings.chatTemplates[1].name = "";
  auto refused = translate();
  ASSERT_FALSE(bool(refused));
  EXPECT_EQ(llvm::toString(refused.takeError()),
            "tokenizer.json: expects names of chat templates of 1 to 256 bytes "
            "of UTF-8, but got ''");
}
