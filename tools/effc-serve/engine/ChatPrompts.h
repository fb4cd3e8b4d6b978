//===- ChatPrompts.h - Conversations to tokens ----------------------------===//
#ifndef EFFC_TOOLS_EFFC_SERVE_ENGINE_CHATPROMPTS_H
#define EFFC_TOOLS_EFFC_SERVE_ENGINE_CHATPROMPTS_H

#include "runtime/include/effc/effc.hpp"

#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace effc::serve {

/// A text part of a message's content.
struct PartPlace {
  size_t message, part;
};

struct ChatInput {
  nlohmann::ordered_json messages;
  nlohmann::ordered_json
      arguments; // more variables of the template, a mapping; or null
  nlohmann::ordered_json documents, tools; // lists; or null
  bool addsPrompt = true;                  // ends with what begins an answer
  bool continues = false;                  // ends within the last message
  bool findsMarks = false;                 // those of the prompt
  /// Behind which the client wants states kept.
  std::vector<PartPlace> breakpoints;
};

struct ChatPrompt {
  std::string text;
  std::vector<int32_t> tokens;
  /// Where they were asked for, ends of beginnings that later prompts will share, in
  /// order: behind the system's text, behind messages, and where the client says so. The
  /// last one is where what begins an answer follows: the next turn has the same tokens
  /// up to there.
  std::vector<uint64_t> marks;
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
  size_t sharedBytes(ChatInput shorter, std::string_view prompt) const;
  /// Where a beginning of a prompt ends.
  struct End {
    uint64_t at;  // in bytes, or in tokens
    bool isAsked; // by the client, and so kept however near to others
  };
  std::vector<End> endsOf(const ChatInput &input,
                          std::string_view prompt) const;
  std::vector<End> inTokens(std::vector<End> ends,
                            const ChatPrompt &prompt) const;
  static std::vector<uint64_t> marksOf(std::span<const End> ends,
                                       uint64_t messagesEnd);
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
