//===- AnswerParts.h - Takes the answers of a conversation apart ----------===//
#ifndef EFFC_TOOLS_EFFC_SERVE_ENGINE_ANSWERPARTS_H
#define EFFC_TOOLS_EFFC_SERVE_ENGINE_ANSWERPARTS_H

#include "runtime/include/effc/effc.hpp"
#include "tools/effc-serve/wire/Written.h"

#include <memory>
#include <string>
#include <string_view>

namespace effc::serve {

/// What the answers to one prompt look like. Immutable; makes a parser for each.
struct AnswerManner {
  std::string prompt; // its text: answers may begin within reasoning
  std::string tools;  // JSON; empty: calls are content
  std::string lead;   // of a call, which the prompt ends with; empty: none
};

/// The text of one answer, as it comes, to its parts.
class AnswerParts {
public:
  /// `chat` outlives this. Throws effc::Error where its template has no manner of
  /// calls that is known, and there are tools.
  AnswerParts(const effc_chat_t *chat, const AnswerManner &manner);

  /// Whether what comes first is reasoning, and no call.
  static bool beginsWithReasoning(const effc_chat_t *chat,
                                  const AnswerManner &manner);

  /// Adds what `text` brings to `out`.
  void push(std::string_view text, Written &out);
  /// The same of what is left at the end.
  void finish(Written &out);
  /// Whether a call has begun.
  bool hasCalls() const { return calls; }

private:
  void take(Written &out);

  struct Free {
    void operator()(effc_chat_parser_t *parser) const {
      effc_chat_parser_free(parser);
    }
  };
  std::unique_ptr<effc_chat_parser_t, Free> parser;
  bool calls = false;
};

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_ENGINE_ANSWERPARTS_H
