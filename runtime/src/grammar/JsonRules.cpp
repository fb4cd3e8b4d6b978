#include "runtime/src/grammar/JsonRules.h"

#include <charconv>

using namespace effc::rt;
using namespace effc::rt::grammar;
using jinja::Kind;
using jinja::Value;

/// What cannot stand in a text of JSON as itself. Delete is allowed there, but
/// llama.cpp and others leave it out: no text needs it.
static const CharacterSet kEscaped = {
    {0, 0x1F}, {'"', '"'}, {'\\', '\\'}, {0x7F, 0x7F}};

uint32_t JsonRules::named(const char *name, Expression (JsonRules::*make)()) {
  if (auto found = known.find(name); found != known.end())
    return found->second;
  // It is known before it is made: values hold values.
  uint32_t rule = rules.add(name, {});
  known[name] = rule;
  Expression body = (this->*make)();
  rules.all[rule].body = std::move(body);
  return rule;
}

Expression JsonRules::space() {
  return call(named("space", &JsonRules::makeSpace));
}
Expression JsonRules::character() {
  return call(named("character", &JsonRules::makeCharacter));
}
Expression JsonRules::text() {
  return call(named("string", &JsonRules::makeText));
}
Expression JsonRules::integer() {
  return call(named("integer", &JsonRules::makeInteger));
}
Expression JsonRules::number() {
  return call(named("number", &JsonRules::makeNumber));
}
Expression JsonRules::object() {
  return call(named("object", &JsonRules::makeObject));
}
Expression JsonRules::array() {
  return call(named("array", &JsonRules::makeArray));
}
Expression JsonRules::value() {
  return call(named("value", &JsonRules::makeValue));
}
Expression JsonRules::boolean() {
  return choice({textOf("true"), textOf("false")});
}
Expression JsonRules::null() { return textOf("null"); }

Expression JsonRules::makeSpace() {
  return optional(
      choice({textOf(" "),
              sequence({textOf("\n"),
                        repeat(oneOf({{' ', ' '}, {'\t', '\t'}}), 0, 20)})}));
}

/// Of 16 bits in hexadecimal, but no half of a pair.
static Expression escapedCodes() {
  CharacterSet hex = {{'0', '9'}, {'a', 'f'}, {'A', 'F'}};
  CharacterSet notD = {
      {'0', '9'}, {'a', 'c'}, {'A', 'C'}, {'e', 'f'}, {'E', 'F'}};
  CharacterSet d = {{'d', 'd'}, {'D', 'D'}};
  CharacterSet high = {{'8', '9'}, {'a', 'b'}, {'A', 'B'}};
  CharacterSet low = {{'c', 'f'}, {'C', 'F'}};
  auto digits = [&](uint32_t count) {
    return repeat(oneOf(hex), count, count);
  };
  return choice({sequence({oneOf(notD), digits(3)}),
                 sequence({oneOf(d), oneOf({{'0', '7'}}), digits(2)}),
                 sequence({oneOf(d), oneOf(high), digits(2), textOf("\\u"),
                           oneOf(d), oneOf(low), digits(2)})});
}

Expression JsonRules::makeCharacter() {
  return choice(
      {oneOf(kEscaped.complement()),
       sequence(
           {textOf("\\"), choice({oneOf({{'"', '"'},
                                         {'\\', '\\'},
                                         {'/', '/'},
                                         {'b', 'b'},
                                         {'f', 'f'},
                                         {'n', 'n'},
                                         {'r', 'r'},
                                         {'t', 't'}}),
                                  sequence({textOf("u"), escapedCodes()})})})});
}

static std::string escaped(uint32_t code) {
  switch (code) {
  case '"':
    return "\\\"";
  case '\\':
    return "\\\\";
  case '\n':
    return "\\n";
  case '\r':
    return "\\r";
  case '\t':
    return "\\t";
  case '\b':
    return "\\b";
  case '\f':
    return "\\f";
  default:
    const char *digits = "0123456789abcdef";
    return std::string("\\u00") + digits[code >> 4 & 15] + digits[code & 15];
  }
}

Expression JsonRules::characters(const CharacterSet &set) {
  std::vector<Expression> choices;
  CharacterSet plain = set.common(kEscaped.complement());
  if (!plain.ranges().empty())
    choices.push_back(oneOf(plain));
  for (const CodeRange &range : set.common(kEscaped).ranges())
    for (uint32_t code = range.first; code <= range.last; ++code)
      choices.push_back(textOf(escaped(code)));
  if (choices.empty())
    return oneOf({}); // refused by checkRules()
  return choice(std::move(choices));
}

std::string grammar::quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    auto byte = static_cast<uint8_t>(c);
    if (byte < 0x20 || byte == 0x7F || c == '"' || c == '\\')
      out += escaped(byte);
    else
      out += c;
  }
  return out + '"';
}

Expression JsonRules::makeText() {
  return sequence({textOf("\""), repeat(character(), 0), textOf("\"")});
}

static constexpr int64_t kSixteenDigits = 9'999'999'999'999'999;

Expression JsonRules::makeInteger() {
  return integersBetween(-kSixteenDigits, kSixteenDigits);
}

Expression JsonRules::makeNumber() {
  return sequence(
      {optional(textOf("-")),
       choice({textOf("0"), sequence({oneOf({{'1', '9'}}),
                                      repeat(oneOf(digits()), 0, 15)})}),
       optional(sequence({textOf("."), repeat(oneOf(digits()), 1, 16)})),
       optional(sequence({oneOf({{'e', 'e'}, {'E', 'E'}}),
                          optional(oneOf({{'+', '+'}, {'-', '-'}})),
                          repeat(oneOf(digits()), 1, 2)}))});
}

Expression JsonRules::comma() { return sequence({textOf(","), space()}); }

Expression JsonRules::key(Expression name) {
  return sequence({std::move(name), textOf(":"), space()});
}

Expression JsonRules::braces(Expression members) {
  return sequence(
      {textOf("{"), space(), std::move(members), space(), textOf("}")});
}

Expression JsonRules::brackets(Expression items) {
  return sequence(
      {textOf("["), space(), std::move(items), space(), textOf("]")});
}

Expression JsonRules::makeObject() {
  auto member = [&] { return sequence({key(text()), value()}); };
  return braces(
      optional(sequence({member(), repeat(sequence({comma(), member()}), 0)})));
}

Expression JsonRules::makeArray() {
  return brackets(
      optional(sequence({value(), repeat(sequence({comma(), value()}), 0)})));
}

Expression JsonRules::makeValue() {
  return choice({object(), array(), text(), number(), boolean(), null()});
}

static std::string textOfNumber(double number) {
  char digits[40];
  auto [end, code] = std::to_chars(digits, digits + sizeof digits, number);
  return std::string(digits, end);
}

Expression JsonRules::constant(const Value &value) {
  switch (value.kind()) {
  case Kind::Boolean:
    return textOf(value.boolean() ? "true" : "false");
  case Kind::Integer:
    return textOf(std::to_string(value.whole()));
  case Kind::Float:
    return textOf(textOfNumber(value.number()));
  case Kind::Text:
    return textOf(quoted(value.text().bytes()));
  case Kind::Sequence: {
    std::vector<Expression> items;
    for (const Value &item : value.sequence().items) {
      if (!items.empty())
        items.push_back(comma());
      items.push_back(constant(item));
    }
    return brackets(sequence(std::move(items)));
  }
  case Kind::Mapping: {
    std::vector<Expression> members;
    for (const jinja::Mapping::Entry &entry : value.mapping().entries()) {
      if (!members.empty())
        members.push_back(comma());
      members.push_back(key(textOf(quoted(entry.key.text().bytes()))));
      members.push_back(constant(entry.value));
    }
    return braces(sequence(std::move(members)));
  }
  default:
    return null();
  }
}

/// Numbers of as many digits, from `least` to `most` by their digits from `at` on.
static Expression digitsBetween(const std::string &least,
                                const std::string &most, size_t at) {
  auto left = static_cast<uint32_t>(least.size() - at);
  if (left == 0)
    return textOf("");
  auto digit = [](char c) { return static_cast<uint32_t>(c); };
  bool isAll = least.find_first_not_of('0', at) == std::string::npos &&
               most.find_first_not_of('9', at) == std::string::npos;
  if (isAll)
    return repeat(oneOf(digits()), left, left);
  if (least[at] == most[at])
    return sequence({textOf(std::string(1, least[at])),
                     digitsBetween(least, most, at + 1)});
  std::vector<Expression> choices;
  std::string zeros = least.substr(0, at + 1) + std::string(left - 1, '0');
  std::string nines = least.substr(0, at + 1) + std::string(left - 1, '9');
  choices.push_back(sequence({textOf(std::string(1, least[at])),
                              digitsBetween(least, nines, at + 1)}));
  if (least[at] + 1 < most[at])
    choices.push_back(
        sequence({oneOf({{digit(least[at]) + 1, digit(most[at]) - 1}}),
                  repeat(oneOf(digits()), left - 1, left - 1)}));
  choices.push_back(sequence(
      {textOf(std::string(1, most[at])), digitsBetween(zeros, most, at + 1)}));
  return choice(std::move(choices));
}

static void addMagnitudes(uint64_t least, uint64_t most, const char *sign,
                          std::vector<Expression> &choices) {
  for (uint64_t from = least; from <= most;) {
    uint64_t nines = 9;
    while (nines < from)
      nines = nines > UINT64_MAX / 10 ? UINT64_MAX : nines * 10 + 9;
    uint64_t to = std::min(nines, most);
    choices.push_back(
        sequence({textOf(sign),
                  digitsBetween(std::to_string(from), std::to_string(to), 0)}));
    if (to == UINT64_MAX)
      break;
    from = to + 1;
  }
}

Expression grammar::integersBetween(int64_t least, int64_t most) {
  std::vector<Expression> choices;
  auto magnitude = [](int64_t number) {
    return number < 0 ? ~static_cast<uint64_t>(number) + 1
                      : static_cast<uint64_t>(number);
  };
  if (least < 0)
    addMagnitudes(most < 0 ? magnitude(most) : 1, magnitude(least), "-",
                  choices);
  if (most >= 0)
    addMagnitudes(least < 0 ? 0 : magnitude(least), magnitude(most), "",
                  choices);
  if (choices.empty())
    return oneOf({});
  return choice(std::move(choices));
}
