#include "tools/effc/SamplePrompts.h"

#include "tools/terminal/Failure.h"
#include "tools/terminal/Quantities.h"

#include <sstream>

using namespace effc;
using namespace effc::cli;
using Json = nlohmann::ordered_json;

namespace {
/// Reads lines; the chat template is looked for when the first needs one.
class PromptReader {
public:
  PromptReader(const std::string &path, const Model &model)
      : path(path), model(model) {}

  SamplePrompt read(size_t number, const std::string &text) {
    line = number;
    SamplePrompt prompt;
    prompt.line = Json::parse(text, nullptr, false);
    if (!prompt.line.is_object())
      fail("expects {\"prompt\": TEXT}, {\"tokens\": [IDS]} or {\"messages\": "
           "[...]}");
    prompt.tokens = tokensOf(prompt.line);
    if (prompt.tokens.empty())
      fail("the prompt is empty");
    if (uint64_t most = model.maxContext();
        most && prompt.tokens.size() >= most)
      fail("the prompt has " + formatCount(prompt.tokens.size()) +
           " tokens, but the model's context is " + formatCount(most) +
           " tokens (effc compile --max-context makes another)");
    if (const auto at = prompt.line.find("answer");
        at != prompt.line.end() && !at->is_null()) {
      if (!at->is_string())
        fail("\"answer\" expects a text");
      prompt.answer = at->get<std::string>();
    }
    return prompt;
  }

private:
  [[noreturn]] void fail(const std::string &what) const {
    throw Failure("'" + path + "', line " + std::to_string(line) + ": " + what);
  }

  Tokens tokensOf(const Json &given) {
    int ways = given.contains("prompt") + given.contains("tokens") +
               given.contains("messages");
    if (ways != 1)
      fail("expects one of \"prompt\", \"tokens\" and \"messages\", but got " +
           std::to_string(ways));
    if (given.contains("tokens"))
      return idsOf(given["tokens"]);
    if (!model.hasTokenizer())
      fail("the file has no tokenizer: give \"tokens\"");
    if (given.contains("messages")) {
      if (!chat)
        chat.emplace(model);
      Conversation conversation;
      conversation.messages = given["messages"].dump();
      return chat->render(conversation).tokenize(model);
    }
    if (!given["prompt"].is_string())
      fail("\"prompt\" expects a text");
    Tokens tokens = model.tokenize(given["prompt"].get<std::string>());
    if (tokens.empty() && model.generation().bos >= 0)
      tokens.push_back(model.generation().bos);
    return tokens;
  }

  Tokens idsOf(const Json &json) const {
    Tokens ids;
    for (const Json &id : json) {
      if (!id.is_number_integer() || id.get<int64_t>() < 0 ||
          id.get<int64_t>() >= int64_t(model.vocabularySize()))
        fail("\"tokens\" expects ids from 0 to " +
             std::to_string(model.vocabularySize() - 1) + ", but got " +
             id.dump());
      ids.push_back(id.get<int32_t>());
    }
    return ids;
  }

  const std::string &path;
  const Model &model;
  std::optional<Chat> chat;
  size_t line = 0;
};
} // namespace

std::vector<SamplePrompt> effc::cli::readSamplePrompts(const std::string &path,
                                                       const Model &model) {
  std::istringstream lines(readWholeFile(path));
  PromptReader reader(path, model);
  std::vector<SamplePrompt> prompts;
  std::string line;
  for (size_t number = 1; std::getline(lines, line); ++number)
    if (line.find_first_not_of(" \t\r") != std::string::npos)
      prompts.push_back(reader.read(number, line));
  if (prompts.empty())
    throw Failure("'" + path +
                  "' has no prompt: expects a line of JSON for "
                  "each");
  return prompts;
}
