// The chat templates of a file, through the C API.
#include "runtime/include/effc/effc.hpp"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <gtest/gtest.h>

using namespace effc;
using namespace effc::test;

namespace {

/// A file with templates of these names, each of which writes its own name, a named
/// token and the first message.
TemporaryFile fileWith(const std::vector<std::string> &names) {
  ToyOptions options;
  options.changeTokenizer = [&](artifact::TokenizerT &table) {
    for (const std::string &name : names)
      addChatTemplate(table, name,
                      name + ": {{ bos_token }}{{ messages[0].content }}");
    addNamedToken(table, "bos_token", "<s>");
  };
  return TemporaryFile(makeToyArtifact(options));
}

std::string messageOf(effc_status_t *status) {
  std::string message = effc_status_message(status);
  effc_status_free(status);
  return message;
}

} // namespace

TEST(ModelChat, RendersTheTemplateThatIsNamed) {
  TemporaryFile file = fileWith({"default", "tool_use"});
  Model model(file.path());
  ASSERT_EQ(model.chatTemplates().size(), 2u);
  EXPECT_EQ(model.chatTemplates()[1].name, "tool_use");
  EXPECT_STREQ(effc_model_named_token(model.get(), "bos_token"), "<s>");
  EXPECT_EQ(effc_model_named_token(model.get(), "eos_token"), nullptr);
  for (const char *name :
       {static_cast<const char *>(nullptr), "default", "tool_use"}) {
    effc_chat_t *chat = nullptr;
    check(effc_chat_create(model.get(), name, &chat));
    effc_conversation_t conversation = effc_conversation_default();
    std::string messages = R"([{"role": "user", "content": "hello"}])";
    conversation.messages = messages.data();
    conversation.messages_size = messages.size();
    effc_chat_text_t *text = nullptr;
    check(effc_chat_render(chat, &conversation, &text));
    size_t size = 0;
    EXPECT_EQ(effc_chat_text_bytes(text, &size),
              std::string(name ? name : "default") + ": <s>hello");
    // What the user wrote, and nothing of the template.
    size_t spans = 0;
    const effc_span_t *given = effc_chat_text_given(text, &spans);
    ASSERT_EQ(spans, 1u);
    EXPECT_EQ(given[0].end, size);
    EXPECT_EQ(given[0].begin, size - 5);
    effc_chat_text_free(text);
    effc_chat_free(chat);
  }
}

TEST(ModelChat, NamesWhatThereIs) {
  TemporaryFile file = fileWith({"rag", "tool_use"});
  Model model(file.path());
  effc_chat_t *chat = nullptr;
  EXPECT_EQ(messageOf(effc_chat_create(model.get(), nullptr, &chat)),
            "expected the name of a chat template of the model ('rag', "
            "'tool_use'), but found 'default'");
  TemporaryFile none(makeToyArtifact());
  Model without(none.path());
  EXPECT_EQ(effc_model_chat_template_count(without.get()), 0u);
  EXPECT_EQ(messageOf(effc_chat_create(without.get(), nullptr, &chat)),
            "the model has no chat template; give one, or use a prompt of "
            "text");
  EXPECT_EQ(chat, nullptr);
}

TEST(ModelChat, TakesTheWordsOfUsersForWords) {
  ToyOptions options;
  options.changeTokenizer = [&](artifact::TokenizerT &table) {
    addChatTemplate(table, "default",
                    "{% for m in messages %}{{ m.content }}<|end|>"
                    "{% endfor %}");
  };
  TemporaryFile file(makeToyArtifact(options));
  Model model(file.path());
  std::string_view end = "<|end|>";
  auto tokensOf = [&](const std::string &messages) {
    return Chat(model).render({messages}).tokenize(model);
  };
  std::vector<int32_t> written(end.begin(), end.end());
  written.push_back(kToyEnd);
  EXPECT_EQ(tokensOf(R"([{"content": "<|end|>"}])"), written);
  // A token that the template would end for the user.
  Chat open = Chat::fromSource("{{ messages[0].content }}d|>", model);
  written.pop_back();
  EXPECT_EQ(open.render({R"([{"content": "<|en"}])"}).tokenize(model), written);
  // The tokens of the template, and no others, are tokens.
  EXPECT_EQ(tokensOf(R"([{"content": "x"}, {"content": "y"}])"),
            (std::vector<int32_t>{'x', kToyEnd, 'y', kToyEnd}));
}

TEST(ModelChat, FindsTheTokenThatEndsAnAnswer) {
  TemporaryFile file(makeToyArtifact());
  Model model(file.path());
  auto endOf = [&](const std::string &source) {
    return Chat::fromSource(source, model).endToken(model);
  };
  std::string all = "{% for m in messages %}{{ m.role }}: {{ m.content }}";
  EXPECT_EQ(endOf(all + "<|end|>{% endfor %}"), kToyEnd);
  EXPECT_EQ(endOf(all + "\n<|end|>\n{% endfor %}"), kToyEnd);
  // Behind questions alone; a text; nothing; no answer; a template that refuses.
  EXPECT_EQ(endOf(all + "{% if m.role == 'user' %}<|end|>{% endif %}"
                        "{% endfor %}"),
            -1);
  EXPECT_EQ(endOf(all + " word<|end|>{% endfor %}"), -1);
  EXPECT_EQ(endOf(all + "{% endfor %}"), -1);
  EXPECT_EQ(endOf("<|end|>"), -1);
  EXPECT_EQ(endOf("{{ raise_exception('no') }}"), -1);
}
