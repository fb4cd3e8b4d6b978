//===- Dialogue.h - A conversation with a model ---------------------------===//
//
// The messages, and the states that they have been read into. A turn reads what is
// new alone: the state behind the last answer goes on where the template keeps that
// text, else the state at the end of the last message that the template keeps.
//
// Reasoning, where the template has marks for it, is kept apart from the content, as
// servers have it: whether the next turn shows it to the model is the template's to say.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TOOLS_EFFC_DIALOGUE_H
#define EFFC_TOOLS_EFFC_DIALOGUE_H

#include "tools/effc/Generation.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace effc::cli {

/// How a conversation is written and answered.
struct DialogueOptions {
  bool shows = true; // answers, as they come; reasoning goes to standard error
  std::string arguments; // JSON, more variables of the template; empty: none
  std::string date;      // that the template sees; empty: the machine's
  GenerationOptions generation;
};

/// What an answer took.
struct Turn {
  SampleResult answer;
  std::string content, reasoning; // its text, taken apart
  uint64_t promptTokens = 0;      // of the whole conversation
  uint64_t readTokens = 0;        // of which so many were read now
  Rate prefill, decode;
};

class Dialogue {
public:
  using Json = nlohmann::ordered_json;

  /// Sequences that it has open in its engine at once.
  static constexpr uint32_t kSessions = 2;

  Dialogue(const Model &model, Engine &engine, Chat chat,
           DialogueOptions options);

  /// Adds a question and its answer, which is shown as `options` say. On any failure,
  /// and where the user interrupts before there is an answer, the conversation is what
  /// it was.
  Turn ask(const std::string &question);
  /// Drops the last question with its answer, and returns it; none where there is none.
  std::optional<std::string> takeBack();
  /// Drops everything but the system's message.
  void clear();
  /// The system's message; empty: none.
  void setSystem(const std::string &text);

  /// A list of {"role", "content"}, answers with "reasoning_content" where they have
  /// some.
  const Json &messages() const { return all; }
  void setMessages(Json messages) { all = std::move(messages); }

  /// Writes the state that the most has been read into, and returns its tokens.
  Tokens saveState(const std::string &path) const;
  /// Goes on from a state that holds `tokens`. Throws effc::Error or Failure where the
  /// file has none such; then nothing has changed.
  void loadState(const std::string &path, Tokens tokens);

private:
  /// A sequence, and the tokens that it holds.
  struct Held {
    Session session;
    Tokens tokens;
  };

  ChatText render(bool addGenerationPrompt) const;
  Turn answer();
  size_t startFrom(const Tokens &prompt);

  const Model &model;
  Engine &engine;
  Chat chat;
  DialogueOptions options;
  Json all = Json::array();
  Held kept;                // up to the end of a message
  std::optional<Held> live; // behind the last answer
  uint64_t asked = 0;       // so that each answer draws otherwise
};

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_DIALOGUE_H
