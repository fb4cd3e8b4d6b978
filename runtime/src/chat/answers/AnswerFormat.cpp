#include "runtime/src/chat/answers/AnswerFormat.h"

#include "runtime/src/chat/answers/CallReader.h"
#include "runtime/src/tokenizer/Utf8.h"

#include <algorithm>
#include <optional>

using namespace effc::rt;

// Words that no template has of its own.
static constexpr std::string_view kName = "probe_tool_q7",
                                  kKey = "probe_key_q7",
                                  kValue = "probe_value_q7",
                                  kThought = "probe thought q7",
                                  kContent = "probe content q7";

const char *effc::rt::nameOf(CallForm form) {
  static constexpr const char *kNames[] = {
      "none",         "json_tags",   "xml_tags", "json",
      "bracket_list", "tagged_list", "python",   "marked_list"};
  return kNames[static_cast<size_t>(form)];
}

static std::string withoutBlanks(std::string_view text) {
  while (!text.empty() && isBlank(text.back()))
    text.remove_suffix(1);
  return std::string(text);
}

static std::string mappingOf(std::string_view key, std::string_view value) {
  return "{\"" + std::string(key) + "\": \"" + std::string(value) + "\"}";
}

static std::optional<std::string> render(const ChatFormat &chat,
                                         const std::string &messages,
                                         const std::string &tools,
                                         bool asksForAnswer = false) {
  Conversation conversation;
  conversation.messages = messages;
  conversation.tools = tools;
  conversation.addGenerationPrompt = asksForAnswer;
  auto text = chat.render(conversation, {2026, 1, 1, 0, 0, 0});
  if (!text) {
    // A template of one's own may rely on tokens that only a model names.
    conversation.arguments = R"({"bos_token": "", "eos_token": ""})";
    text = chat.render(conversation, {2026, 1, 1, 0, 0, 0});
  }
  if (!text)
    return std::nullopt;
  return text->bytes();
}

namespace {
struct Turn {
  std::string text;
  /// Whether the prompt for an answer and a '{' begin it: nothing is before a call.
  bool beginsWithBrace = false;
};
} // namespace

/// What an assistant's message adds to a conversation, and what follows it there.
static std::optional<Turn> turnOf(const ChatFormat &chat,
                                  const std::string &assistant,
                                  const std::string &tools) {
  const std::string user = R"({"role": "user", "content": "Hi."})";
  // Without the answer's own turn some templates refuse; then all is looked at.
  std::string before = render(chat, "[" + user + "]", tools).value_or("");
  auto all = render(chat, "[" + user + ", " + assistant + "]", tools);
  if (!all)
    return std::nullopt;
  size_t common = static_cast<size_t>(
      std::mismatch(before.begin(), before.end(), all->begin(), all->end())
          .second -
      all->begin());
  Turn turn = {all->substr(common)};
  std::string prompt =
      render(chat, "[" + user + "]", tools, /*asksForAnswer=*/true)
          .value_or("");
  if (!prompt.empty() && all->starts_with(prompt)) {
    size_t first = all->find_first_not_of(" \n\r\t", prompt.size());
    turn.beginsWithBrace = first != std::string::npos && (*all)[first] == '{';
  }
  return turn;
}

/// The answer's turn with a call, by whichever way the template takes calls.
static std::optional<Turn> turnWithCall(const ChatFormat &chat) {
  std::string tools =
      R"([{"type": "function", "function": {"name": ")" + std::string(kName) +
      R"(", "description": "A tool.", "parameters": {"type": "object",
      "properties": {")" +
      std::string(kKey) +
      R"(": {"type": "string", "description": "A text."}}, "required": []}}}])";
  std::string arguments = mappingOf(kKey, kValue), quotedArguments = "\"";
  for (char c : arguments)
    quotedArguments += c == '"' ? "\\\"" : std::string(1, c);
  quotedArguments += '"';
  for (const std::string &given : {arguments, quotedArguments})
    for (const char *content : {"\"\"", "null"}) {
      auto turn = turnOf(
          chat,
          R"({"role": "assistant", "content": )" + std::string(content) +
              R"(, "tool_calls": [{"type": "function", "id": "call00001",
              "function": {"name": ")" +
              std::string(kName) + R"(", "arguments": )" + given + "}}]}",
          tools);
      if (turn && turn->text.find(kName) != std::string::npos)
        return turn;
    }
  return std::nullopt;
}

/// The mark at the end of a text: "<tool_call>", "[TOOL_CALLS]".
static std::string markAtEnd(std::string_view text) {
  std::string trimmed = withoutBlanks(text);
  if (trimmed.empty())
    return "";
  char close = trimmed.back();
  char open = close == '>' ? '<' : close == ']' ? '[' : '\0';
  size_t begin = open ? trimmed.rfind(open) : std::string::npos;
  if (begin == std::string::npos)
    return "";
  std::string mark = trimmed.substr(begin);
  bool isWord = mark.size() > 3 &&
                std::none_of(mark.begin(), mark.end(), isBlank) &&
                mark.find_first_of("\"'{}(,") == std::string::npos;
  return isWord ? mark : "";
}

/// That at the beginning, behind white space.
static std::string markAtStart(std::string_view text) {
  while (!text.empty() && isBlank(text.front()))
    text.remove_prefix(1);
  if (text.empty() || (text[0] != '<' && text[0] != '['))
    return "";
  size_t end = text.find(text[0] == '<' ? '>' : ']');
  if (end == std::string_view::npos)
    return "";
  return markAtEnd(text.substr(0, end + 1));
}

/// Whether `mark` may close what `open` opens, and is not the end of the turn.
static bool closes(const std::string &mark, const std::string &open) {
  std::string name;
  for (char c : open)
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_')
      name += c;
  std::string other = name;
  if (size_t at = other.find("start"); at != std::string::npos)
    other.replace(at, 5, "end");
  return !mark.empty() && (mark.find('/') != std::string::npos || other != name)
             ? mark.find(name) != std::string::npos ||
                   mark.find(other) != std::string::npos
             : false;
}

namespace {
/// What stands around the call in a turn.
struct Around {
  bool beginsWithBrace = false; // the turn
  std::string before;           // up to the name
  std::string between, behind;  // around the argument's value
};
} // namespace

static bool endsWithKey(std::string_view text, std::string_view key) {
  std::string compact;
  for (char c : text.substr(text.size() - std::min<size_t>(text.size(), 40)))
    if (!isBlank(c))
      compact += c;
  return compact.ends_with(std::string(key));
}

static void findForm(const Around &around, AnswerFormat &format) {
  auto set = [&](CallForm form, std::string open) {
    format.form = form;
    format.open = std::move(open);
    std::string mark = markAtStart(around.behind);
    if (closes(mark, format.open))
      format.close = mark;
  };
  const std::string &before = around.before;
  if (before.ends_with("<function=")) {
    bool hasParameters = around.between.find("<parameter=" + std::string(kKey) +
                                             ">") != std::string::npos;
    if (!hasParameters) {
      format.whyNone = "'<function=' without '<parameter='";
      return;
    }
    std::string head = before.substr(0, before.size() - 10);
    std::string mark = markAtEnd(head);
    bool isTool = mark.find("tool") != std::string::npos;
    return set(CallForm::XmlTags, isTool ? mark : "");
  }
  bool isPython = around.between.starts_with("(" + std::string(kKey) + "=") &&
                  before.ends_with("[");
  if (isPython)
    return set(CallForm::Python, markAtEnd(std::string_view(before).substr(
                                     0, before.size() - 1)));
  size_t brace = before.rfind('{');
  bool isJson = brace != std::string::npos &&
                endsWithKey(before, "\"name\":\"") &&
                (around.between.find("arguments") != std::string::npos ||
                 around.between.find("parameters") != std::string::npos);
  if (!isJson) {
    std::string head =
        before.substr(before.size() - std::min<size_t>(before.size(), 40));
    format.whyNone = "'" + makeValidUtf8(head) +
                     "' before the name of a tool, which is none of "
                     "the manners that are understood";
    return;
  }
  format.argumentsKey =
      around.between.find("\"arguments\"") != std::string::npos ? "arguments"
                                                                : "parameters";
  // What stands before it then is what begins every answer: "[assistant]" is no mark.
  if (around.beginsWithBrace)
    return set(CallForm::Json, "");
  std::string head = withoutBlanks(std::string_view(before).substr(0, brace));
  bool isList = head.ends_with("[");
  if (isList)
    head.pop_back();
  std::string mark = markAtEnd(head);
  format.isList = isList;
  if (!mark.empty())
    format.lead = before.substr(before.rfind(mark, head.size()),
                                (isList ? before.rfind('[', brace) : brace) -
                                    before.rfind(mark, head.size()));
  if (mark.starts_with('['))
    return set(CallForm::BracketList, mark);
  if (isList && !mark.empty())
    return set(mark.starts_with("<|") ? CallForm::MarkedList
                                      : CallForm::TaggedList,
               mark);
  bool opensTool = mark.find("tool") != std::string::npos ||
                   mark.find("function") != std::string::npos;
  if (!mark.empty() && opensTool)
    return set(CallForm::JsonTags, mark);
  if (isList) {
    format.whyNone = "a list of calls without a mark before it";
    return;
  }
  format.whyNone = "calls in JSON without a mark before them, and other text";
}

static void findCalls(const ChatFormat &chat, AnswerFormat &format) {
  auto turn = turnWithCall(chat);
  if (!turn) {
    format.whyNone = "no call of a tool where a conversation has one";
    return;
  }
  const std::string &text = turn->text;
  size_t name = text.find(kName);
  size_t value = text.find(kValue, name);
  if (value == std::string::npos) {
    format.whyNone = "a call of a tool without its arguments behind its name";
    return;
  }
  Around around;
  around.beginsWithBrace = turn->beginsWithBrace;
  around.before = text.substr(0, name);
  name += kName.size();
  around.between = text.substr(name, value - name);
  // Behind the value its mapping and the call are closed.
  size_t end = value + kValue.size();
  std::string_view rest = std::string_view(text).substr(end);
  size_t skipped = 0;
  bool isXml = around.before.ends_with("<function=");
  if (isXml) {
    size_t function = rest.find("</function>");
    skipped = function == std::string_view::npos ? rest.size() : function + 11;
  } else {
    skipped = std::min(rest.find_first_of("<["), rest.size());
    // An id of the call may follow, in brackets of its own kind.
    while (skipped < rest.size() && rest[skipped] == '[')
      skipped = std::min(rest.find_first_of("<[", skipped + 1), rest.size());
  }
  around.behind = rest.substr(skipped);
  findForm(around, format);
}

static void findReasoning(const ChatFormat &chat, AnswerFormat &format) {
  auto turn =
      turnOf(chat,
             R"({"role": "assistant", "content": ")" + std::string(kContent) +
                 R"(", "reasoning_content": ")" + std::string(kThought) + "\"}",
             "");
  std::string text = turn ? turn->text : "";
  size_t thought = turn ? text.find(kThought) : std::string::npos;
  size_t content = turn ? text.find(kContent) : std::string::npos;
  if (thought != std::string::npos && content != std::string::npos &&
      thought < content) {
    std::string open = markAtEnd(std::string_view(text).substr(0, thought));
    size_t behind = thought + kThought.size();
    std::string close =
        markAtStart(std::string_view(text).substr(behind, content - behind));
    if (!open.empty() && !close.empty() && open != close) {
      format.reasoningOpen = open;
      format.reasoningClose = close;
      return;
    }
  }
  // Templates that drop reasoning look for its end, or open it for the answer.
  static constexpr std::pair<std::string_view, std::string_view> kMarks[] = {
      {"<think>", "</think>"},
      {"[THINK]", "[/THINK]"},
      {"<seed:think>", "</seed:think>"},
      {"<|START_THINKING|>", "<|END_THINKING|>"}};
  for (auto [open, close] : kMarks)
    if (chat.text().find(close) != std::string::npos ||
        chat.text().find(open) != std::string::npos) {
      format.reasoningOpen = open;
      format.reasoningClose = close;
      return;
    }
}

AnswerFormat AnswerFormat::of(const ChatFormat &chat) {
  AnswerFormat format;
  findCalls(chat, format);
  findReasoning(chat, format);
  return format;
}
