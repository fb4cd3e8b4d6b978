#include "runtime/src/chat/ChatFormat.h"

#include "runtime/src/chat/jinja/Characters.h"
#include "runtime/src/chat/jinja/Json.h"
#include "runtime/src/chat/jinja/Machine.h"

#include <algorithm>

using namespace effc;
using namespace effc::rt;
using jinja::Kind;
using jinja::Mapping;
using jinja::Sequence;
using jinja::Text;
using jinja::TextRef;
using jinja::Value;

using Entries = std::shared_ptr<Mapping>;

/// Names under which messages have their reasoning; templates read the first, and
/// those of one family the second.
static constexpr std::string_view kReasoning[] = {"reasoning_content",
                                                  "thinking", "reasoning"};
/// Stands behind a text that goes on, to find its end in the prompt: the library's,
/// since a template that writes the text twice shows one of them. The last
/// character tells whether the template keeps white space there.
static constexpr std::string_view kContinuation = "CONTINUE_FINAL_MESSAGE_TAG ";

static std::string_view bareTag() {
  return kContinuation.substr(0, kContinuation.size() - 1);
}

/// The mappings of a list in JSON; empty for no list.
static Result<std::vector<Value>> readMappings(std::string_view what,
                                               std::string_view json) {
  Result<Value> value = jinja::readJson(what, json);
  if (!value)
    return value.error();
  if (!value->is(Kind::Sequence))
    return invalidArgument("expected a list as '", what, "', but found ",
                           value->description());
  const std::vector<Value> &items = value->sequence().items;
  for (size_t i = 0; i < items.size(); ++i)
    if (!items[i].is(Kind::Mapping))
      return invalidArgument("expected mappings in the list '", what,
                             "', but element ", i, " is ",
                             items[i].description());
  return items;
}

/// A message as templates have it: no key without a value, and its reasoning
/// under each name.
static Entries prepared(const Mapping &message) {
  auto entries = std::make_shared<Mapping>();
  const Value *reasoning = nullptr;
  for (std::string_view field : kReasoning) {
    const Value *found = message.find(field);
    if (!reasoning && found && !found->is(Kind::None))
      reasoning = found;
  }
  // The order of keys is seen by templates that go through them.
  if (reasoning)
    entries->set("thinking", *reasoning);
  for (const Mapping::Entry &entry : message.entries())
    if (!entry.value.is(Kind::None))
      entries->set(entry.key, entry.value);
  if (reasoning)
    entries->set("reasoning_content", *reasoning);
  return entries;
}

static Value withTag(const Text &text) {
  Text tagged = text;
  tagged.append(kContinuation);
  return TextRef(std::make_shared<Text>(std::move(tagged)));
}

/// Puts the tag behind `field` of `message`, and returns the text that goes on.
static Result<Text> tag(Mapping &message, std::string_view field,
                        std::string_view source) {
  const Value *found = message.find(field);
  if (!found)
    return invalidArgument("expected '", field,
                           "' of the last message to go on, but it has none");
  Value content = *found;
  std::vector<std::string_view> fields = {field};
  if (std::find(std::begin(kReasoning), std::end(kReasoning), field) !=
      std::end(kReasoning)) {
    // Reasoning has copies, any of which the template may read.
    fields.clear();
    for (std::string_view other : kReasoning) {
      const Value *copy = message.find(other);
      if (copy && copy->isText() && content.isText() &&
          copy->text().bytes() == content.text().bytes())
        fields.push_back(other);
    }
  }
  if (std::none_of(fields.begin(), fields.end(), [&](std::string_view one) {
        return source.find(one) != std::string_view::npos;
      }))
    return invalidArgument("expected a template that reads '", field,
                           "', which is to go on, but it does not");
  if (content.isText()) {
    for (std::string_view one : fields)
      message.set(one, withTag(content.text()));
    return content.text();
  }
  std::vector<Value> parts;
  if (content.is(Kind::Sequence))
    parts = content.sequence().items;
  for (size_t i = parts.size(); i-- > 0;) {
    const Value *text =
        parts[i].is(Kind::Mapping) ? parts[i].mapping().find("text") : nullptr;
    if (!text || !text->isText())
      continue;
    Text goesOn = text->text();
    auto part = std::make_shared<Mapping>(parts[i].mapping());
    part->set("text", withTag(goesOn));
    parts[i] = std::shared_ptr<const Mapping>(std::move(part));
    message.set(field, std::make_shared<const Sequence>(jinja::Form::List,
                                                        std::move(parts)));
    return goesOn;
  }
  return invalidArgument("expected a text in '", field,
                         "' of the last message to go on, but found none");
}

/// The prompt up to the end of the text that goes on.
static Result<Text> cutAtTag(const Text &prompt, const Text &goesOn) {
  const std::string &bytes = prompt.bytes();
  jinja::Span inner =
      jinja::strippedSpan(goesOn.bytes(), std::nullopt, true, true);
  size_t end = bytes.rfind(bareTag());
  if (end == std::string::npos ||
      bytes.find(goesOn.bytes().substr(inner.begin, inner.end - inner.begin)) ==
          std::string::npos)
    return invalidArgument("expected the last message in the prompt to go on, "
                           "but the template leaves it out or changes it");
  if (bytes.compare(end, kContinuation.size(), kContinuation) != 0)
    end = jinja::strippedSpan(std::string_view(bytes).substr(0, end),
                              std::nullopt, false, true)
              .end;
  return prompt.slice(0, end);
}

ChatFormat::ChatFormat(std::string source, jinja::Template parsed,
                       const Tokens &named)
    : source(std::move(source)), parsed(std::move(parsed)) {
  for (const auto &[name, text] : named)
    tokens.emplace_back(name, Value::own(text));
}

Result<ChatFormat> ChatFormat::create(std::string source,
                                      const Tokens &tokens) {
  Result<jinja::Template> parsed = jinja::Template::create(source);
  if (!parsed)
    return parsed.error();
  return ChatFormat(std::move(source), std::move(*parsed), tokens);
}

Result<Text> ChatFormat::render(const Conversation &conversation,
                                const jinja::Moment &now) const {
  static constexpr std::string_view kOwn[] = {"messages", "tools", "documents",
                                              "add_generation_prompt"};
  jinja::Variables variables = tokens;
  if (!conversation.arguments.empty()) {
    Result<Value> more = jinja::readJson("arguments", conversation.arguments);
    if (!more)
      return more.error();
    if (!more->is(Kind::Mapping))
      return invalidArgument("expected a mapping as 'arguments', but found ",
                             more->description());
    for (const Mapping::Entry &entry : more->mapping().entries()) {
      const std::string &key = entry.key.text().bytes();
      if (std::find(std::begin(kOwn), std::end(kOwn), key) != std::end(kOwn))
        return invalidArgument("expected '", key,
                               "' beside 'arguments', but found it within");
      variables.emplace_back(key, entry.value);
    }
  }
  Result<std::vector<Value>> messages =
      readMappings("messages", conversation.messages);
  if (!messages)
    return messages.error();
  std::vector<Entries> entries;
  for (const Value &message : *messages)
    entries.push_back(prepared(message.mapping()));
  Text goesOn;
  if (!conversation.continued.empty()) {
    if (conversation.addGenerationPrompt)
      return invalidArgument("expected a message that goes on or a new one to "
                             "begin, but found both");
    if (entries.empty())
      return invalidArgument("expected a last message to go on, but found no "
                             "message");
    Result<Text> found = tag(*entries.back(), conversation.continued, source);
    if (!found)
      return found.error();
    goesOn = std::move(*found);
  }
  std::vector<Value> items;
  for (Entries &one : entries)
    items.push_back(std::shared_ptr<const Mapping>(std::move(one)));
  variables.emplace_back("messages", std::make_shared<const Sequence>(
                                         jinja::Form::List, std::move(items)));
  const std::pair<const char *, std::string_view> lists[] = {
      {"tools", conversation.tools}, {"documents", conversation.documents}};
  for (const auto &[what, json] : lists) {
    Value list = jinja::None();
    if (!json.empty() && json != "null") {
      Result<std::vector<Value>> read = readMappings(what, json);
      if (!read)
        return read.error();
      list =
          std::make_shared<const Sequence>(jinja::Form::List, std::move(*read));
    }
    variables.emplace_back(what, std::move(list));
  }
  variables.emplace_back("add_generation_prompt",
                         conversation.addGenerationPrompt);
  Result<Text> prompt =
      parsed.render(variables, now, jinja::stepsFor(messages->size()));
  if (!prompt || conversation.continued.empty())
    return prompt;
  return cutAtTag(*prompt, goesOn);
}
