//===- ChatFormat.h - From messages to the text of a prompt ---------------===//
//
// What transformers' apply_chat_template() does around a template: the variables
// that templates rely on, keys without a value dropped, reasoning under each of its
// names, and a last message that goes on.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_CHAT_CHATFORMAT_H
#define EFFC_RUNTIME_SRC_CHAT_CHATFORMAT_H

#include "runtime/src/chat/jinja/Template.h"

namespace effc::rt {

/// JSON, as OpenAI's API has it; all but the messages may be empty.
struct Conversation {
  std::string_view messages;  // a list of mappings
  std::string_view tools;     // a list of mappings
  std::string_view documents; // likewise
  std::string_view arguments; // a mapping: more variables of the template
  bool addGenerationPrompt = false;
  /// The field of the last message that the prompt ends within; empty for none.
  std::string_view continued;
};

/// Immutable: any number of threads may render it at the same time.
class ChatFormat {
public:
  using Tokens = std::vector<std::pair<std::string, std::string>>;

  /// `tokens`: texts of named tokens such as "bos_token". Errors are those of
  /// jinja::parse().
  static Result<ChatFormat> create(std::string source, const Tokens &tokens);

  /// The prompt; what comes from the conversation is marked as given.
  /// EFFC_INVALID_ARGUMENT: the conversation is no JSON of that shape, or the
  /// template refuses it; EFFC_UNSUPPORTED: the template comes to what is not
  /// understood.
  Result<jinja::Text> render(const Conversation &conversation,
                             const jinja::Moment &now) const;

  /// The template.
  const std::string &text() const { return source; }

private:
  ChatFormat(std::string source, jinja::Template parsed, const Tokens &tokens);

  std::string source;
  jinja::Template parsed;
  jinja::Variables tokens;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_CHAT_CHATFORMAT_H
