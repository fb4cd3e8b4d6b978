// Templates of our own against what transformers made of them, prompt for prompt
// (test/goldens/make_chat_goldens.py).
#include "runtime/include/effc/effc.hpp"
#include "runtime/src/Sha256.h"

#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace effc;
using Json = nlohmann::ordered_json;

namespace {

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

const Json &expected() {
  static const Json json =
      Json::parse(readFile(std::string(EFFC_CHAT_GOLDENS) + "/expected.json"));
  return json;
}

std::vector<std::string> templateNames() {
  std::vector<std::string> names;
  for (const auto &[name, recorded] : expected()["templates"].items())
    names.push_back(name);
  return names;
}

/// The prompt, or nothing and the message of the refusal.
std::optional<std::string> render(const effc_chat_t *chat, const Json &recorded,
                                  std::string &refusal) {
  Json arguments = expected()["tokens"];
  if (recorded.contains("arguments"))
    arguments.update(Json::parse(recorded["arguments"].get<std::string>()));
  std::string messages = recorded["messages"], named = arguments.dump();
  std::string tools = recorded.value("tools", ""),
              documents = recorded.value("documents", ""),
              continued = recorded.value("continued", ""),
              date = expected()["date"];
  effc_conversation_t conversation = effc_conversation_default();
  conversation.messages = messages.data();
  conversation.messages_size = messages.size();
  conversation.tools = tools.data();
  conversation.tools_size = tools.size();
  conversation.documents = documents.data();
  conversation.documents_size = documents.size();
  conversation.arguments = named.data();
  conversation.arguments_size = named.size();
  conversation.date = date.c_str();
  conversation.continued = continued.empty() ? nullptr : continued.c_str();
  conversation.add_generation_prompt =
      recorded.value("add_generation_prompt", false);
  effc_chat_text_t *text = nullptr;
  if (effc_status_t *status = effc_chat_render(chat, &conversation, &text)) {
    refusal = effc_status_message(status);
    effc_status_free(status);
    return std::nullopt;
  }
  size_t size;
  const char *bytes = effc_chat_text_bytes(text, &size);
  std::string prompt(bytes, size);
  effc_chat_text_free(text);
  return prompt;
}

std::string digestOf(const std::string &text) {
  return rt::describeSha256(
             rt::sha256(
                 {reinterpret_cast<const uint8_t *>(text.data()), text.size()}))
      .substr(0, 16);
}

class RecordedChatsTest : public testing::TestWithParam<std::string> {};

TEST_P(RecordedChatsTest, prompts_are_those_of_the_library) {
  std::string source =
      readFile(std::string(EFFC_CHAT_GOLDENS) + "/" + GetParam() + ".jinja");
  effc_chat_t *chat = nullptr;
  effc_status_t *status = effc_chat_create_from_source(
      source.data(), source.size(), nullptr, &chat);
  ASSERT_EQ(status, nullptr) << effc_status_message(status);
  const Json &recorded = expected()["templates"][GetParam()];
  const Json &conversations = expected()["conversations"];
  ASSERT_EQ(recorded["digests"].size(), conversations.size());
  for (size_t i = 0; i < conversations.size(); ++i) {
    std::string digest = recorded["digests"][i], refusal;
    std::optional<std::string> prompt = render(chat, conversations[i], refusal);
    if (digest.empty()) {
      EXPECT_FALSE(prompt) << "conversation " << i << ": the library refuses";
      EXPECT_FALSE(refusal.empty() && !prompt);
      continue;
    }
    ASSERT_TRUE(prompt) << "conversation " << i << ": " << refusal;
    if (auto whole = recorded["texts"].find(std::to_string(i));
        whole != recorded["texts"].end())
      EXPECT_EQ(*prompt, whole->get<std::string>()) << "conversation " << i;
    EXPECT_EQ(digestOf(*prompt), digest) << "conversation " << i << ":\n"
                                         << *prompt;
  }
  effc_chat_free(chat);
}

INSTANTIATE_TEST_SUITE_P(Templates, RecordedChatsTest,
                         testing::ValuesIn(templateNames()),
                         [](const auto &info) { return info.param; });

TEST(RecordedChats, hold_enough) {
  EXPECT_GE(expected()["conversations"].size(), 200u);
  EXPECT_GE(expected()["templates"].size(), 30u);
}

} // namespace
