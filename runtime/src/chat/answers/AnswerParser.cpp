#include "runtime/src/chat/answers/AnswerParser.h"

#include "runtime/src/chat/jinja/Json.h"

using namespace effc::rt;
using jinja::Kind;
using jinja::Value;

AnswerParser::AnswerParser(AnswerFormat given, const Options &options)
    : format(std::move(given)), readsTools(options.tools),
      readsReasoning(options.reasoning && !format.reasoningClose.empty()) {
  std::string_view prompt = options.prompt;
  while (!prompt.empty() && isBlank(prompt.back()))
    prompt.remove_suffix(1);
  beginsReasoning = readsReasoning && prompt.ends_with(format.reasoningOpen);
  begin();
}

Result<std::unique_ptr<AnswerParser>>
AnswerParser::create(AnswerFormat format, const Options &options) {
  if (options.tools && format.form == CallForm::None)
    return fail(EFFC_UNSUPPORTED,
                "tools are not possible with this chat template: it has ",
                format.whyNone);
  std::unique_ptr<AnswerParser> made(
      new AnswerParser(std::move(format), options));
  if (!options.definitions.empty())
    if (Check error = made->readDefinitions(options.definitions))
      return *error;
  return made;
}

static const Value *at(const Value *value, std::string_view key) {
  return value && value->is(Kind::Mapping) ? value->mapping().find(key)
                                           : nullptr;
}

/// Which parameters are texts.
Check AnswerParser::readDefinitions(std::string_view json) {
  Result<Value> read = jinja::readJson("definitions", json);
  if (!read)
    return read.error();
  if (!read->is(Kind::Sequence))
    return invalidArgument("expected a list as 'definitions', but found ",
                           read->description());
  for (const Value &tool : read->sequence().items) {
    const Value *function = at(&tool, "function");
    if (!function)
      function = &tool;
    const Value *name = at(function, "name");
    const Value *properties = at(at(function, "parameters"), "properties");
    if (!name || !name->isText() || !properties ||
        !properties->is(Kind::Mapping))
      continue;
    for (const jinja::Mapping::Entry &entry : properties->mapping().entries()) {
      const Value *type = at(&entry.value, "type");
      if (type && type->isText())
        types[{name->text().bytes(), entry.key.text().bytes()}] =
            type->text().bytes() == "string" ? ParameterType::Text
                                             : ParameterType::Other;
    }
  }
  return {};
}

ParameterType AnswerParser::of(const std::string &call,
                               const std::string &key) const {
  auto found = types.find({call, key});
  return found == types.end() ? ParameterType::Unknown : found->second;
}

void AnswerParser::begin() {
  state = beginsReasoning ? State::Reasoning : State::Content;
  dropsWhite = beginsReasoning;
  held.clear();
  white.clear();
  reader.reset();
  read.clear();
  hasContent = false;
  calls = 0;
}

void AnswerParser::enter(State next) {
  state = next;
  white.clear();
  held.clear();
  dropsWhite = true;
}

/// Those that can come now.
std::vector<std::pair<std::string_view, AnswerParser::Mark>>
AnswerParser::marks() const {
  std::vector<std::pair<std::string_view, Mark>> all;
  auto add = [&](std::string_view text, Mark mark) {
    if (!text.empty())
      all.emplace_back(text, mark);
  };
  if (state == State::Reasoning) {
    add(format.reasoningClose, Mark::ReasoningClose);
    return all;
  }
  if (readsReasoning && !hasContent && calls == 0 && state == State::Content)
    add(format.reasoningOpen, Mark::ReasoningOpen);
  if (!readsTools)
    return all;
  if (state == State::BehindCalls)
    add(format.close, Mark::CallClose);
  add(format.open, Mark::CallOpen);
  // Models that write <function= at times leave out what stands around it.
  if (format.form == CallForm::XmlTags && state == State::Content)
    add("<function=", Mark::CallOpen);
  if (format.form == CallForm::Json)
    add("<|python_tag|>", Mark::CallOpen);
  return all;
}

void AnswerParser::push(std::string_view text) {
  for (char byte : text)
    take(byte);
}

void AnswerParser::take(char byte) {
  if (state == State::Calls)
    takeCall(byte);
  else
    takeText(byte);
}

void AnswerParser::takeText(char byte) {
  held += byte;
  while (!held.empty()) {
    bool isBeginning = false;
    for (auto [text, mark] : marks()) {
      if (held == text) {
        reached(mark);
        return;
      }
      isBeginning |= text.starts_with(held);
    }
    if (isBeginning)
      return;
    char first = held[0];
    std::string rest = held.substr(1);
    held.clear();
    if (readsTools && mayBeginCall(first)) {
      beginCalls(state == State::BehindCalls);
      takeCall(first);
      push(rest); // all of what may be a mark is looked at again
      return;
    }
    say(first);
    held = std::move(rest);
  }
}

void AnswerParser::reached(Mark mark) {
  std::string whole = std::move(held);
  held.clear();
  switch (mark) {
  case Mark::ReasoningOpen:
    return enter(State::Reasoning);
  case Mark::ReasoningClose:
    return enter(State::Content);
  case Mark::CallClose:
    isOpen = false;
    return enter(State::BehindCalls);
  case Mark::CallOpen:
    beginCalls(whole == format.open || whole == "<function=");
    if (whole == "<function=")
      for (char byte : whole)
        takeCall(byte);
  }
}

/// Calls without a mark are the whole of an answer, or follow others between marks.
bool AnswerParser::mayBeginCall(char byte) const {
  if (state == State::BehindCalls && isOpen &&
      format.form == CallForm::JsonTags)
    return byte == '{';
  if (state != State::Content || hasContent || calls > 0)
    return false;
  if (format.form == CallForm::Json)
    return byte == '{';
  return format.form == CallForm::Python && format.open.empty() && byte == '[';
}

void AnswerParser::say(char byte) {
  if (isBlank(byte)) {
    white += byte;
    return;
  }
  if (state == State::BehindCalls)
    enter(State::Content);
  if (dropsWhite)
    white.clear();
  dropsWhite = false;
  bool isReasoning = state == State::Reasoning;
  hasContent |= !isReasoning;
  add(isReasoning ? EFFC_CHAT_REASONING : EFFC_CHAT_CONTENT, white + byte);
  white.clear();
}

void AnswerParser::beginCalls(bool isMarked) {
  isCertain = isOpen = isMarked;
  hasBegun = false;
  read.clear();
  held.clear();
  state = State::Calls;
  switch (format.form) {
  case CallForm::XmlTags:
    reader = createXmlCalls(*this, *this);
    break;
  case CallForm::Python:
    reader = createPythonCalls(*this);
    break;
  default:
    reader = createJsonCalls(*this, /*waits=*/!isMarked);
  }
}

void AnswerParser::takeCall(char byte) {
  CallReader::Step step = reader->push(byte);
  if (!hasBegun)
    read += byte;
  if (step == CallReader::Step::More)
    return;
  reader.reset();
  if (step == CallReader::Step::Done) {
    enter(State::BehindCalls);
    return;
  }
  // What was no call stays a text, with the mark that it began with.
  std::string text = (isCertain && format.open != "<function=" &&
                              !read.starts_with("<function=")
                          ? format.open
                          : "") +
                     read;
  if (hasBegun)
    text = byte;
  state = State::Content;
  if (hasBegun)
    enter(State::Content);
  hasContent = true;
  for (char each : text)
    say(each);
}

void AnswerParser::beginCall(const std::string &name, const std::string &id) {
  hasBegun = true;
  white.clear();
  ++calls;
  add(EFFC_CHAT_CALL, name, id);
}

void AnswerParser::addArguments(std::string_view json) {
  add(EFFC_CHAT_ARGUMENTS, json);
}

void AnswerParser::add(effc_chat_part_kind_t kind, std::string_view text,
                       std::string id) {
  bool isOfCall = kind == EFFC_CHAT_CALL || kind == EFFC_CHAT_ARGUMENTS;
  uint32_t call = isOfCall ? calls - 1 : 0;
  if (kind != EFFC_CHAT_CALL && !parts.empty() && parts.back().kind == kind &&
      parts.back().call == call)
    parts.back().text += text;
  else
    parts.push_back({kind, call, std::string(text), std::move(id)});
}

void AnswerParser::finish() {
  if (state == State::Calls && !hasBegun) {
    // Never a call: what was read is content.
    std::string text =
        (isCertain && !read.starts_with("<function=") ? format.open : "") +
        read;
    state = State::Content;
    hasContent = true;
    reader.reset();
    for (char byte : text)
      say(byte);
  }
  std::string rest = std::move(held);
  held.clear();
  if (state != State::Calls)
    for (char byte : rest)
      say(byte);
  if (state == State::Content && !white.empty() && !dropsWhite)
    add(EFFC_CHAT_CONTENT, white);
  begin();
}

bool AnswerParser::next(AnswerPart &part) {
  if (parts.empty())
    return false;
  part = std::move(parts.front());
  parts.pop_front();
  return true;
}
