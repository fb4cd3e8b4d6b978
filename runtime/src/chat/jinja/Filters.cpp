// Filters of one value.

#include "runtime/src/chat/jinja/Filters.h"

#include "runtime/src/chat/jinja/Characters.h"
#include "runtime/src/chat/jinja/Json.h"
#include "runtime/src/chat/jinja/Methods.h"
#include "runtime/src/chat/jinja/Operators.h"

#include <charconv>
#include <cmath>
#include <map>

using namespace effc::rt;
using namespace effc::rt::jinja;

static Value toJson(Machine &machine, const Value &value,
                    const Arguments &arguments) {
  auto bound = arguments.bind(
      machine, "tojson", {"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style;
  style.asciiOnly = bound[0] && isTrue(*bound[0]);
  style.sortKeys = bound[3] && isTrue(*bound[3]);
  if (bound[1] && !bound[1]->is(Kind::None)) {
    // More than any document needs, and each level repeats it.
    if (bound[1]->isWhole() && bound[1]->whole() <= 64)
      style.indent = std::string(
          static_cast<size_t>(std::max<int64_t>(0, bound[1]->whole())), ' ');
    else if (bound[1]->isText() && bound[1]->text().size() <= 64)
      style.indent = bound[1]->text().bytes();
    else
      return machine.refuse(
          "expected an indent of at most 64 spaces, or a text "
          "of that length, but found ",
          bound[1]->description());
    style.itemSeparator = ",";
  }
  if (bound[2] && !bound[2]->is(Kind::None)) {
    std::vector<Value> pair;
    if (bound[2]->is(Kind::Sequence))
      pair = bound[2]->sequence().items;
    if (pair.size() != 2 || !pair[0].isText() || !pair[1].isText())
      return machine.refuse("expected two texts as separators, but found ",
                            bound[2]->description());
    style.itemSeparator = pair[0].text().bytes();
    style.keySeparator = pair[1].text().bytes();
  }
  return writeJson(machine, value, style);
}

static Value toLength(Machine &machine, const Value &value,
                      const Arguments &arguments) {
  arguments.bind(machine, "length", {});
  std::optional<size_t> count = length(machine, value);
  return count ? Value(static_cast<int64_t>(*count)) : Value();
}

static Value trim(Machine &machine, const Value &value,
                  const Arguments &arguments) {
  auto bound = arguments.bind(machine, "trim", {"chars"});
  std::optional<std::string> characters;
  if (bound[0] && bound[0]->isText())
    characters = bound[0]->text().bytes();
  Text text = toText(machine, value);
  machine.reads(text.size());
  Span span = strippedSpan(text.bytes(), characters, true, true);
  return machine.text(text.slice(span.begin, span.end));
}

static Value toString(Machine &machine, const Value &value,
                      const Arguments &arguments) {
  arguments.bind(machine, "string", {});
  return value.isText() ? value : machine.text(toText(machine, value));
}

static Value markSafe(Machine &machine, const Value &value,
                      const Arguments &arguments) {
  arguments.bind(machine, "safe", {});
  Text text = toText(machine, value);
  text.isSafe = true;
  return machine.text(std::move(text));
}

static Value escape(Machine &machine, const Value &value,
                    const Arguments &arguments) {
  arguments.bind(machine, "escape", {});
  Text empty;
  empty.isSafe = true;
  // What is added to a safe text is escaped.
  return calculate(machine, Operator::Add, machine.text(std::move(empty)),
                   machine.text(toText(machine, value)));
}

static Value orDefault(Machine &machine, const Value &value,
                       const Arguments &arguments) {
  auto bound = arguments.bind(machine, "default", {"default_value", "boolean"});
  bool isMissing =
      value.isUndefined() || (bound[1] && isTrue(*bound[1]) && !isTrue(value));
  if (!isMissing)
    return value;
  return bound[0] ? *bound[0] : machine.text(std::string());
}

static Value changed(Machine &machine, const Value &value,
                     const Arguments &arguments, std::string_view method) {
  arguments.bind(machine, method, {});
  return callTextMethod(machine, toText(machine, value), method, {});
}
static Value lower(Machine &machine, const Value &value,
                   const Arguments &arguments) {
  return changed(machine, value, arguments, "lower");
}
static Value upper(Machine &machine, const Value &value,
                   const Arguments &arguments) {
  return changed(machine, value, arguments, "upper");
}
static Value capital(Machine &machine, const Value &value,
                     const Arguments &arguments) {
  return changed(machine, value, arguments, "capitalize");
}

/// Words start after white space, '-' and opening brackets.
static Value title(Machine &machine, const Value &value,
                   const Arguments &arguments) {
  arguments.bind(machine, "title", {});
  Text text = toText(machine, value), result;
  const std::string &bytes = text.bytes();
  machine.reads(bytes.size() * 4);
  size_t begin = 0;
  bool inWord = false;
  for (size_t at = 0; at <= bytes.size(); ++at) {
    bool separates = true;
    if (at < bytes.size()) {
      auto byte = static_cast<uint8_t>(bytes[at]);
      separates = byte < 0x80 && (isSpace(byte) || byte == '-' || byte == '(' ||
                                  byte == '[' || byte == '{' || byte == '<');
    }
    if (separates == inWord || at == bytes.size()) {
      std::optional<Text> part = text.slice(begin, at);
      if (inWord)
        part = capitalize(*part);
      if (!part)
        return machine.unsupported("expected letters whose capital is one "
                                   "letter, but found another");
      result.append(*part);
      begin = at;
      inWord = !separates;
    }
  }
  return machine.text(std::move(result));
}

static Value replace(Machine &machine, const Value &value,
                     const Arguments &arguments) {
  auto bound = arguments.bind(machine, "replace", {"old", "new", "count"}, 2);
  if (machine.failed())
    return {};
  int64_t most = bound[2] && bound[2]->isWhole() ? bound[2]->whole() : -1;
  Text text = toText(machine, value);
  text.isSafe = false;
  return replaceText(machine, text, toText(machine, *bound[0]),
                     toText(machine, *bound[1]), most);
}

static Value indent(Machine &machine, const Value &value,
                    const Arguments &arguments) {
  auto bound = arguments.bind(machine, "indent", {"width", "first", "blank"});
  std::string margin(4, ' ');
  if (bound[0] && bound[0]->isText())
    margin = bound[0]->text().bytes();
  else if (bound[0] && bound[0]->isWhole() && bound[0]->whole() <= 1024)
    margin.assign(static_cast<size_t>(std::max<int64_t>(0, bound[0]->whole())),
                  ' ');
  else if (bound[0])
    return machine.refuse("expected a width of at most 1024, or a text, but "
                          "found ",
                          bound[0]->description());
  bool first = bound[1] && isTrue(*bound[1]),
       blank = bound[2] && isTrue(*bound[2]);
  Text text = toText(machine, value), result;
  text.append("\n"); // so that the last line counts, also an empty one
  machine.reads(text.size());
  std::vector<Text> lines = splitLines(text);
  for (size_t i = 0; i < lines.size() && result.size() <= kMostTextBytes; ++i) {
    if (i > 0)
      result.append("\n");
    if (i == 0 ? first : (blank || !lines[i].empty()))
      result.append(margin);
    result.append(lines[i]);
  }
  return machine.text(std::move(result));
}

static Value toInteger(Machine &machine, const Value &value,
                       const Arguments &arguments) {
  auto bound = arguments.bind(machine, "int", {"default", "base"});
  Value otherwise = bound[0] ? *bound[0] : Value(int64_t(0));
  if (value.isWhole())
    return value.whole();
  double number = 0;
  if (value.is(Kind::Float)) {
    number = value.number();
  } else if (value.isText()) {
    if (bound[1])
      return machine.unsupported(
          "expected 'int' without a base, but found one");
    const std::string &bytes = value.text().bytes();
    Span span = strippedSpan(bytes, std::nullopt, true, true);
    const char *begin = bytes.data() + span.begin,
               *end = bytes.data() + span.end;
    if (begin < end && *begin == '+')
      ++begin;
    int64_t whole = 0;
    auto [stop, code] = std::from_chars(begin, end, whole);
    if (code == std::errc() && stop == end)
      return whole;
    auto [last, problem] = std::from_chars(begin, end, number);
    if (problem != std::errc() || last != end)
      return otherwise;
  } else {
    return otherwise;
  }
  // Beyond, Python would have a whole number of more than 64 bits.
  if (!(std::fabs(number) < 9.2e18))
    return std::isnan(number) || std::isinf(number)
               ? otherwise
               : machine.unsupported("expected whole numbers of 64 bits, but a "
                                     "result is beyond");
  return static_cast<int64_t>(number);
}

static Value toFloat(Machine &machine, const Value &value,
                     const Arguments &arguments) {
  auto bound = arguments.bind(machine, "float", {"default"});
  if (value.isNumber())
    return value.number();
  Value otherwise = bound[0] ? *bound[0] : Value(0.0);
  if (!value.isText())
    return otherwise;
  const std::string &bytes = value.text().bytes();
  Span span = strippedSpan(bytes, std::nullopt, true, true);
  const char *begin = bytes.data() + span.begin, *end = bytes.data() + span.end;
  if (begin < end && *begin == '+')
    ++begin;
  double number = 0;
  auto [last, problem] = std::from_chars(begin, end, number);
  return problem == std::errc() && last == end ? Value(number) : otherwise;
}

static Value absolute(Machine &machine, const Value &value,
                      const Arguments &arguments) {
  arguments.bind(machine, "abs", {});
  if (!value.isNumber())
    return machine.refuse("expected a number for 'abs', but found ",
                          value.description());
  if (value.is(Kind::Float))
    return std::fabs(value.number());
  return value.whole() < 0 ? negative(machine, value) : Value(value.whole());
}

static Value roundNumber(Machine &machine, const Value &value,
                         const Arguments &arguments) {
  auto bound = arguments.bind(machine, "round", {"precision", "method"});
  int64_t digits = bound[0] && bound[0]->isWhole() ? bound[0]->whole() : 0;
  bool isCommon =
      !bound[1] || (bound[1]->isText() && bound[1]->text().bytes() == "common");
  if (!value.isNumber() || !isCommon || digits < 0 || digits > 30)
    return machine.unsupported("expected 'round' of a number to 0 to 30 digits "
                               "by the method 'common', but found ",
                               value.description(), " or other arguments");
  // Whole numbers stay such; others are rounded as their digits say.
  if (value.isWhole())
    return value.whole();
  if (!std::isfinite(value.number()))
    return value;
  char buffer[400];
  auto end = std::to_chars(buffer, buffer + sizeof(buffer), value.number(),
                           std::chars_format::fixed, static_cast<int>(digits))
                 .ptr;
  double rounded = 0;
  std::from_chars(buffer, end, rounded);
  return rounded;
}

static const std::map<std::string_view, Filter> kFilters = {
    {"abs", absolute},    {"capitalize", capital}, {"count", toLength},
    {"d", orDefault},     {"default", orDefault},  {"e", escape},
    {"escape", escape},   {"float", toFloat},      {"indent", indent},
    {"int", toInteger},   {"length", toLength},    {"lower", lower},
    {"replace", replace}, {"round", roundNumber},  {"safe", markSafe},
    {"string", toString}, {"title", title},        {"tojson", toJson},
    {"trim", trim},       {"upper", upper}};

bool jinja::isFilter(std::string_view name) {
  return kFilters.count(name) || findListFilter(name);
}

Value jinja::applyFilter(Machine &machine, std::string_view name,
                         const Value &value, const Arguments &arguments) {
  if (!machine.step())
    return {};
  auto found = kFilters.find(name);
  Filter filter =
      found == kFilters.end() ? findListFilter(name) : found->second;
  if (!filter)
    return machine.unsupported(
        "expected a filter that is understood, but found '", name, "'");
  Value result = filter(machine, value, arguments);
  return machine.failed() ? Value() : result;
}
