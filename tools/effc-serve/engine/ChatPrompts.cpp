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

/// How many bytes of a prompt a shorter conversation has, too; 0 where the template
/// does not take it.
size_t ChatPrompts::sharedBytes(ChatInput shorter,
                                std::string_view prompt) const {
  shorter.addsPrompt = shorter.continues = false;
  if (!readsParts)
    joinParts(shorter.messages);
  try {
    Text text = rendered(shorter);
    size_t size = 0;
    const char *bytes = effc_chat_text_bytes(text.get(), &size);
    return static_cast<size_t>(
        std::mismatch(bytes, bytes + size, prompt.begin(), prompt.end()).first -
        bytes);
  } catch (const Error &) {
    return 0;
  }
}

/// The first messages alone.
static ChatInput beginningOf(const ChatInput &input, size_t messages) {
  ChatInput shorter = input;
  auto &all = shorter.messages.get_ref<Json::array_t &>();
  all.erase(all.begin() + static_cast<ptrdiff_t>(messages), all.end());
  return shorter;
}

/// Where what others may share ends, in bytes of the prompt: of a long conversation the
/// last messages, since the earlier ones had their turn.
std::vector<ChatPrompts::End>
ChatPrompts::endsOf(const ChatInput &input, std::string_view prompt) const {
  constexpr size_t kMost = EFFC_MARKS_MOST - 1; // and the end of all messages
  std::vector<End> ends;
  auto add = [&](ChatInput shorter, bool isAsked = false) {
    ends.push_back({sharedBytes(std::move(shorter), prompt), isAsked});
  };
  for (size_t i = input.breakpoints.size(); i-- > 0 && ends.size() < kMost;) {
    auto [message, part] = input.breakpoints[i];
    ChatInput shorter = beginningOf(input, message + 1);
    auto &parts = shorter.messages.back()["content"].get_ref<Json::array_t &>();
    parts.erase(parts.begin() + static_cast<ptrdiff_t>(part) + 1, parts.end());
    add(std::move(shorter), /*isAsked=*/true);
  }
  size_t system = 0, count = input.messages.size();
  while (system < count) {
    Json role = input.messages[system].value("role", Json());
    if (role != Json("system") && role != Json("developer"))
      break;
    ++system;
  }
  if (system > 0 && system < count && ends.size() < kMost)
    add(beginningOf(input, system));
  for (size_t messages = count - 1; messages > system && ends.size() < kMost;
       --messages)
    add(beginningOf(input, messages));
  return ends;
}

/// From bytes to the tokens that lie before them. Empty where the tokens do not give the
/// prompt's text back.
std::vector<ChatPrompts::End>
ChatPrompts::inTokens(std::vector<End> ends, const ChatPrompt &prompt) const {
  std::ranges::sort(ends, {}, &End::at);
  Detokenizer texts(model);
  size_t bytes = 0, next = 0;
  uint64_t before = 0; // tokens of what is certain
  for (size_t i = 0; i <= prompt.tokens.size(); ++i) {
    size_t now =
        bytes + (i < prompt.tokens.size() ? texts.push(prompt.tokens[i]).size()
                                          : texts.finish().size());
    for (; next < ends.size() && ends[next].at < now; ++next)
      ends[next].at = before;
    if (now > bytes)
      before = i + 1;
    bytes = now;
  }
  ends.resize(bytes == prompt.text.size() ? next : 0);
  return ends;
}

/// In order, and apart from each other where the client has not asked for them: each
/// costs a call.
std::vector<uint64_t> ChatPrompts::marksOf(std::span<const End> ends,
                                           uint64_t messagesEnd) {
  constexpr uint64_t kLeastApart = 16; // tokens
  std::vector<uint64_t> marks;
  for (auto [at, isAsked] : ends) {
    uint64_t last = marks.empty() ? 0 : marks.back();
    bool isApart = at >= last + kLeastApart &&
                   (messagesEnd == 0 || at + kLeastApart <= messagesEnd);
    if (isApart || (isAsked && at > last))
      marks.push_back(at);
  }
  if (messagesEnd > (marks.empty() ? 0 : marks.back()))
    marks.push_back(messagesEnd);
  return marks;
}

ChatPrompt ChatPrompts::render(ChatInput input) const {
  ChatInput asked = input;
  if (!readsParts)
    joinParts(input.messages);
  Text text = rendered(input);
  ChatPrompt prompt;
  size_t size = 0;
  const char *bytes = effc_chat_text_bytes(text.get(), &size);
  prompt.text.assign(bytes, size);
  prompt.tokens = tokensOf(text);
  if (!input.findsMarks || !input.addsPrompt)
    return prompt;
  input.addsPrompt = false;
  uint64_t messagesEnd = 0;
  try {
    std::vector<int32_t> messages = tokensOf(rendered(input));
    messagesEnd = static_cast<uint64_t>(
        std::mismatch(prompt.tokens.begin(), prompt.tokens.end(),
                      messages.begin(), messages.end())
            .first -
        prompt.tokens.begin());
  } catch (const Error &) {
    // A template that always begins an answer: then there is no such place.
  }
  std::vector<End> ends = endsOf(asked, prompt.text);
  if (!ends.empty())
    ends = inTokens(std::move(ends), prompt);
  prompt.marks = marksOf(ends, messagesEnd);
  return prompt;
}
