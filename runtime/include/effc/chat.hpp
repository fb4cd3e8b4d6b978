//===- chat.hpp - chat.h for C++17 ----------------------------------------===//
//
// A part of effc.hpp, which includes it.
//
//   effc::Chat chat(model);
//   auto prompt = chat.render({R"([{"role": "user", "content": "Hello"}])"});
//   std::vector<int32_t> tokens = prompt.tokenize(model);
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_CHAT_HPP
#define EFFC_CHAT_HPP

#include "effc.hpp"

namespace effc {

/// What is rendered: JSON, as effc_conversation_t has it.
struct Conversation {
  std::string messages;
  std::string tools = "", documents = "", arguments = ""; // empty: none
  std::string date = ""; // empty: the machine's time
  std::string continued = "";
  bool addGenerationPrompt = true;
};

/// A rendered conversation.
class ChatText : public Handle<effc_chat_text_t, effc_chat_text_free> {
public:
  std::string_view bytes() const {
    size_t size = 0;
    const char *text = effc_chat_text_bytes(get(), &size);
    return {text, size};
  }
  /// The parts that came from the conversation, and not from the template.
  std::vector<effc_span_t> given() const {
    size_t count = 0;
    const effc_span_t *spans = effc_chat_text_given(get(), &count);
    return {spans, spans + count};
  }
  /// Special tokens that the conversation spells out are text.
  std::vector<int32_t> tokenize(const Model &model) const {
    std::vector<int32_t> tokens(bytes().size() + 16);
    size_t count = 0;
    check(effc_chat_text_tokenize(model.get(), get(), tokens.data(),
                                  tokens.size(), &count));
    if (count > tokens.size()) {
      tokens.resize(count);
      check(effc_chat_text_tokenize(model.get(), get(), tokens.data(),
                                    tokens.size(), &count));
    }
    tokens.resize(count);
    return tokens;
  }

private:
  friend class Chat;
  using Handle::Handle;
};

/// A template that is ready to render; any number of threads may do so.
class Chat : public Handle<effc_chat_t, effc_chat_free> {
public:
  /// The model's template of that name.
  explicit Chat(const Model &model, const std::string &name = "default")
      : Handle(create(model, name)) {}
  /// A template of your own, with the named tokens of `model`.
  static Chat fromSource(std::string_view source, const Model &model) {
    effc_chat_t *chat = nullptr;
    check(effc_chat_create_from_source(source.data(), source.size(),
                                       model.get(), &chat));
    return Chat(chat);
  }

  /// The token that the template writes behind an answer; -1: none.
  int32_t endToken(const Model &model) const {
    int32_t token = -1;
    check(effc_chat_end_token(get(), model.get(), &token));
    return token;
  }

  ChatText render(const Conversation &given) const {
    effc_conversation_t conversation = effc_conversation_default();
    auto set = [](const std::string &text, const char *&data, size_t &size) {
      data = text.empty() ? nullptr : text.data();
      size = text.size();
    };
    set(given.messages, conversation.messages, conversation.messages_size);
    set(given.tools, conversation.tools, conversation.tools_size);
    set(given.documents, conversation.documents, conversation.documents_size);
    set(given.arguments, conversation.arguments, conversation.arguments_size);
    conversation.date = given.date.empty() ? nullptr : given.date.c_str();
    conversation.continued =
        given.continued.empty() ? nullptr : given.continued.c_str();
    conversation.add_generation_prompt = given.addGenerationPrompt;
    effc_chat_text_t *text = nullptr;
    check(effc_chat_render(get(), &conversation, &text));
    return ChatText(text);
  }

private:
  using Handle::Handle;
  static effc_chat_t *create(const Model &model, const std::string &name) {
    effc_chat_t *chat = nullptr;
    check(effc_chat_create(model.get(), name.c_str(), &chat));
    return chat;
  }
};

} // namespace effc

#endif // EFFC_CHAT_HPP
