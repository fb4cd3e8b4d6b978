#include "tools/effc-serve/engine/ChatPrompts.h"

#include <algorithm>

using namespace effc;
using namespace effc::serve;
using Json = nlohmann::ordered_json;

ChatPrompts::ChatPrompts(const Model &model, effc_chat_t *given)
    : model(model), chat(given), readsParts(findWhetherPartsAreRead()) {
  check(effc_chat_end_token(chat.get(), model.get(), &end));
}

/// Shows the template a message in parts: one that knows nothing of parts prints
/// them as a list, or fails.
bool ChatPrompts::findWhetherPartsAreRead() const {
  constexpr const char *kWord = "Xparts";
  ChatInput probe;
  probe.messages = Json::array(
      {{{"role", "user"},
        {"content", Json::array({{{"type", "text"}, {"text", kWord}}})}}});
  try {
    Text rendering = rendered(probe);
    std::string text = effc_chat_text_bytes(rendering.get(), nullptr);
    return text.find(kWord) != std::string::npos &&
           text.find("'type'") == std::string::npos &&
           text.find("\"type\"") == std::string::npos;
  } catch (const Error &) {
    return false;
  }
}

/// The texts of a message's parts as one, a line each.
static void joinParts(Json &messages) {
  for (Json &message : messages) {
    auto content = message.find("content");
    if (content == message.end() || !content->is_array())
      continue;
    std::string text;
    for (const Json &part : *content)
      text += (text.empty() ? "" : "\n") + part.value("text", "");
    *content = text;
  }
}

ChatPrompts::Text ChatPrompts::rendered(const ChatInput &input) const {
  std::string messages = input.messages.dump(),
              arguments = input.arguments.dump(),
              documents = input.documents.dump(), tools = input.tools.dump();
  effc_conversation_t conversation = effc_conversation_default();
  conversation.messages = messages.data();
  conversation.messages_size = messages.size();
  if (!input.arguments.is_null()) {
    conversation.arguments = arguments.data();
    conversation.arguments_size = arguments.size();
  }
  if (!input.documents.is_null()) {
    conversation.documents = documents.data();
    conversation.documents_size = documents.size();
  }
  if (!input.tools.is_null()) {
    conversation.tools = tools.data();
    conversation.tools_size = tools.size();
  }
  conversation.add_generation_prompt = input.addsPrompt;
  if (input.continues)
    conversation.continued = "content";
  effc_chat_text_t *text = nullptr;
  check(effc_chat_render(chat.get(), &conversation, &text));
  return Text(text, effc_chat_text_free);
}

std::vector<int32_t> ChatPrompts::tokensOf(const Text &text) const {
  size_t size = 0;
  effc_chat_text_bytes(text.get(), &size);
  std::vector<int32_t> tokens(size + 16);
  size_t count = 0;
  check(effc_chat_text_tokenize(model.get(), text.get(), tokens.data(),
                                tokens.size(), &count));
  if (count > tokens.size()) {
    tokens.resize(count);
    check(effc_chat_text_tokenize(model.get(), text.get(), tokens.data(),
                                  tokens.size(), &count));
  }
  tokens.resize(count);
  return tokens;
}

ChatPrompt ChatPrompts::render(ChatInput input) const {
  if (!readsParts)
    joinParts(input.messages);
  Text text = rendered(input);
  ChatPrompt prompt;
  size_t size = 0;
  const char *bytes = effc_chat_text_bytes(text.get(), &size);
  prompt.text.assign(bytes, size);
  prompt.tokens = tokensOf(text);
  if (!input.addsPrompt)
    return prompt;
  input.addsPrompt = false;
  try {
    std::vector<int32_t> messages = tokensOf(rendered(input));
    prompt.messagesEnd = static_cast<uint64_t>(
        std::mismatch(prompt.tokens.begin(), prompt.tokens.end(),
                      messages.begin(), messages.end())
            .first -
        prompt.tokens.begin());
  } catch (const Error &) {
    // A template that always begins an answer: then there is no such place.
  }
  return prompt;
}
