#include "tools/effc-serve/engine/ChatPrompts.h"

using namespace effc;
using namespace effc::serve;
using Json = nlohmann::json;

ChatPrompts::ChatPrompts(const Model &model, effc_chat_t *given)
    : model(model), chat(given), readsParts(findWhetherPartsAreRead()) {}

/// Shows the template a message in parts: one that knows nothing of parts prints
/// them as a list, or fails.
bool ChatPrompts::findWhetherPartsAreRead() const {
  constexpr const char *kWord = "Xparts";
  ChatInput probe;
  probe.messages = Json::array(
      {{{"role", "user"},
        {"content", Json::array({{{"type", "text"}, {"text", kWord}}})}}});
  try {
    std::string text = renderedText(probe, nullptr);
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

std::string ChatPrompts::renderedText(const ChatInput &input,
                                      std::vector<effc_span_t> *given) const {
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
  std::unique_ptr<effc_chat_text_t, void (*)(effc_chat_text_t *)> owner(
      text, effc_chat_text_free);
  size_t size = 0, count = 0;
  const char *bytes = effc_chat_text_bytes(text, &size);
  if (given) {
    const effc_span_t *spans = effc_chat_text_given(text, &count);
    given->assign(spans, spans + count);
  }
  return std::string(bytes, size);
}

ChatPrompt ChatPrompts::render(ChatInput input) const {
  if (!readsParts)
    joinParts(input.messages);
  std::vector<effc_span_t> given;
  ChatPrompt prompt;
  prompt.text = renderedText(input, &given);
  const std::string &text = prompt.text;
  // Templates write the beginning of a sequence themselves.
  constexpr uint32_t kFlags = EFFC_TOKENIZE_NO_SPECIAL;
  auto append = [&](size_t begin, size_t end, uint32_t flags) {
    if (begin == end)
      return;
    auto tokens = model.tokenize(text.substr(begin, end - begin), flags);
    prompt.tokens.insert(prompt.tokens.end(), tokens.begin(), tokens.end());
  };
  // All in one piece, but for parts of users in which a special token is spelled.
  size_t done = 0;
  for (const effc_span_t &span : given) {
    std::string part = text.substr(span.begin, span.end - span.begin);
    if (model.tokenize(part, kFlags) ==
        model.tokenize(part, kFlags | EFFC_TOKENIZE_PLAIN))
      continue;
    append(done, span.begin, kFlags);
    append(span.begin, span.end, kFlags | EFFC_TOKENIZE_PLAIN);
    done = span.end;
  }
  append(done, text.size(), kFlags);
  return prompt;
}
