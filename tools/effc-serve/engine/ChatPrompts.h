//===- ChatPrompts.h - Conversations to tokens ----------------------------===//
#ifndef EFFC_TOOLS_EFFC_SERVE_ENGINE_CHATPROMPTS_H
#define EFFC_TOOLS_EFFC_SERVE_ENGINE_CHATPROMPTS_H

#include "runtime/include/effc/effc.hpp"

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace effc::serve {

struct ChatInput {
  nlohmann::ordered_json messages;
  nlohmann::ordered_json
      arguments; // more variables of the template, a mapping; or null
  nlohmann::ordered_json documents, tools; // lists; or null
  bool addsPrompt = true;                  // ends with what begins an answer
  bool continues = false;                  // ends within the last message
};

struct ChatPrompt {
  std::string text;
  std::vector<int32_t> tokens;
  /// Where the messages end, and what begins an answer follows: the next turn has the
  /// same tokens up to there. 0: nowhere.
  uint64_t messagesEnd = 0;
};

/// A model's template. Any thread.
class ChatPrompts {
public:
  /// Takes `chat`. `model` outlives this.
  ChatPrompts(const Model &model, effc_chat_t *chat);

  /// Renders and tokenises. What users wrote stays text: a special token that is
  /// spelled out there is cut as other words are. Throws effc::Error.
  ChatPrompt render(ChatInput input) const;
  /// For the readers of answers (AnswerParts.h).
  const effc_chat_t *chatHandle() const { return chat.get(); }
  /// The token that the template writes behind an answer; -1: none.
  int32_t endToken() const { return end; }

private:
  using Text = std::unique_ptr<effc_chat_text_t, void (*)(effc_chat_text_t *)>;
  Text rendered(const ChatInput &input) const;
  std::vector<int32_t> tokensOf(const Text &text) const;
  bool findWhetherPartsAreRead() const;

  struct Free {
    void operator()(effc_chat_t *chat) const { effc_chat_free(chat); }
  };
  const Model &model;
  std::unique_ptr<effc_chat_t, Free> chat;
  int32_t end = -1;
  bool readsParts; // of a message's content; else one text is made of them
};

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_ENGINE_CHATPROMPTS_H
