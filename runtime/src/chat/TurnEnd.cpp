#include "runtime/src/chat/TurnEnd.h"

#include "runtime/src/tokenizer/Tokenizer.h"

using namespace effc::rt;

std::optional<int32_t> effc::rt::findTurnEnd(const ChatFormat &format,
                                             const Tokenizer &tokenizer) {
  // Nothing that a template could write itself.
  constexpr std::string_view kAnswer = "The answer is q7x2.";
  Conversation conversation;
  conversation.messages =
      R"([{"role": "user", "content": "What is the answer?"},)"
      R"( {"role": "assistant", "content": "The answer is q7x2."}])";
  Result<jinja::Text> text = format.render(conversation, jinja::Moment::now());
  if (!text)
    return std::nullopt;
  size_t at = text->bytes().rfind(kAnswer);
  if (at == std::string::npos)
    return std::nullopt;
  size_t end = text->bytes().find_first_not_of(" \t\r\n", at + kAnswer.size());
  if (end == std::string::npos)
    return std::nullopt;
  Tokenizer::Options options;
  options.addSpecial = false;
  auto tokens =
      tokenizer.tokenize(std::string_view(text->bytes()).substr(end), options);
  if (!tokens || tokens->empty() || !tokenizer.isSpecial(tokens->front()))
    return std::nullopt;
  return tokens->front();
}
