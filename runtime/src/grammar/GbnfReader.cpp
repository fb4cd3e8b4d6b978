#include "runtime/src/grammar/GbnfReader.h"

#include "runtime/src/tokenizer/Utf8.h"

#include <algorithm>
#include <map>
#include <optional>

using namespace effc::rt;
using namespace effc::rt::grammar;

static bool isNameByte(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || byte == '-' || byte == '_';
}

namespace {
/// Recursive descent; brackets are bounded. The first failure stands.
class Reader {
public:
  explicit Reader(std::string_view text) : text(text) {}

  Result<Rules> run() {
    skipSpace();
    while (!error && at < text.size())
      readRule();
    if (!error)
      checkNames();
    if (error)
      return *error;
    if (Check wrong = checkRules(rules))
      return *wrong;
    return std::move(rules);
  }

private:
  struct Name {
    uint32_t rule;
    size_t firstUse;
    bool isDefined;
  };

  std::string placeOf(size_t byte) const {
    std::string_view before = text.substr(0, byte);
    auto line = 1 + std::count(before.begin(), before.end(), '\n');
    size_t start = before.rfind('\n') + 1; // npos + 1 is 0
    size_t column = 1;
    for (char c : before.substr(start))
      column += (c & 0xC0) != 0x80; // characters
    return "line " + std::to_string(line) + ", column " +
           std::to_string(column);
  }

  template <typename... Parts>
  void refuseAs(effc_status_code_t code, size_t byte, const Parts &...parts) {
    if (!error)
      error = fail(code, placeOf(byte), ": ", parts...);
    at = text.size();
  }
  void expect(std::string_view what) {
    std::string found = "the end";
    if (at < text.size()) {
      Utf8Step step = nextCharacter(text.substr(at));
      found = "'" + makeValidUtf8(text.substr(at, step.bytes)) + "'";
    }
    refuseAs(EFFC_INVALID_ARGUMENT, at, "expected ", what, ", but found ",
             found);
  }

  bool is(char byte) const { return at < text.size() && text[at] == byte; }
  bool skip(char byte) {
    bool found = is(byte);
    at += found;
    return found;
  }

  /// White space and comments, over lines.
  void skipSpace() {
    while (at < text.size()) {
      if (text[at] == '#')
        at = std::min(text.find('\n', at), text.size());
      else if (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' ||
               text[at] == '\r')
        ++at;
      else
        break;
    }
  }

  std::string_view readName() {
    size_t begin = at;
    while (at < text.size() && isNameByte(text[at]))
      ++at;
    return text.substr(begin, at - begin);
  }

  /// Whether a name and "::=" come, which begin the next rule.
  bool isAtRule() {
    size_t kept = at;
    bool found = !readName().empty();
    skipSpace();
    found = found && text.substr(at).starts_with("::=");
    at = kept;
    return found;
  }

  Name &ruleNamed(std::string_view name, size_t use) {
    auto found = names.find(name);
    if (found == names.end()) {
      if (rules.all.size() >= kMostRules)
        refuseAs(EFFC_UNSUPPORTED, use, "expected at most ", kMostRules,
                 " rules");
      uint32_t rule = rules.add(std::string(name), {});
      found = names.emplace(std::string(name), Name{rule, use, false}).first;
    }
    return found->second;
  }

  void readRule() {
    size_t begin = at;
    std::string_view name = readName();
    if (name.empty())
      return expect("the name of a rule");
    skipSpace();
    if (!text.substr(at).starts_with("::="))
      return expect("'::=' behind the name of a rule");
    at += 3;
    Name &entry = ruleNamed(name, begin);
    if (entry.isDefined)
      return refuseAs(EFFC_INVALID_ARGUMENT, begin, "rule '", name,
                      "' is there a second time");
    entry.isDefined = true;
    uint32_t rule = entry.rule;
    Expression body = readChoice(0);
    if (!error && at < text.size() && !isAtRule())
      expect("a text, a set, a name, '(' or the next rule");
    if (error)
      return;
    rules.all[rule].body = std::move(body);
    rules.all[rule].place = placeOf(begin);
  }

  Expression readChoice(unsigned depth) {
    std::vector<Expression> choices;
    do
      choices.push_back(readSequence(depth));
    while (skip('|'));
    return choice(std::move(choices));
  }

  Expression readSequence(unsigned depth) {
    std::vector<Expression> parts;
    skipSpace();
    while (!error && at < text.size() && !is('|') && !is(')') && !isAtRule()) {
      std::optional<Expression> part = readPart(depth);
      if (!part)
        break;
      parts.push_back(readRepeats(std::move(*part)));
      skipSpace();
    }
    return sequence(std::move(parts));
  }

  std::optional<Expression> readPart(unsigned depth) {
    if (is('"'))
      return readText();
    if (is('['))
      return readSet();
    if (skip('.'))
      return oneOf({{0, kMostCodePoint}});
    if (is('('))
      return readGroup(depth);
    if (is('<') || is('!'))
      refuseAs(EFFC_UNSUPPORTED, at,
               "expected texts, but found a token '<...>', which is not "
               "understood: write its text in quotes");
    size_t begin = at;
    std::string_view name = readName();
    if (!name.empty())
      return call(ruleNamed(name, begin).rule);
    expect("a text, a set, a name or '('");
    return std::nullopt;
  }

  Expression readGroup(unsigned depth) {
    size_t begin = at++;
    if (depth + 1 >= kMostNesting)
      refuseAs(EFFC_UNSUPPORTED, begin, "expected at most ", kMostNesting,
               " brackets in each other");
    Expression inner = readChoice(depth + 1);
    if (!error && !skip(')'))
      expect("')'");
    return inner;
  }

  Expression readText() {
    size_t begin = at++;
    std::string bytes;
    while (!error && !is('"')) {
      if (at >= text.size())
        refuseAs(EFFC_INVALID_ARGUMENT, begin,
                 "expected '\"' at the end of a text, but found none");
      else if (std::optional<uint32_t> code = readCharacter())
        appendCharacter(bytes, *code);
    }
    skip('"');
    return textOf(std::move(bytes));
  }

  Expression readSet() {
    size_t begin = at++;
    bool isNegated = skip('^');
    CharacterSet set;
    while (!error && !is(']')) {
      if (at >= text.size()) {
        refuseAs(EFFC_INVALID_ARGUMENT, begin,
                 "expected ']' at the end of a set, but found none");
        break;
      }
      size_t first = at;
      std::optional<uint32_t> low = readCharacter(), high = low;
      if (is('-') && at + 1 < text.size() && text[at + 1] != ']') {
        ++at;
        high = readCharacter();
      }
      if (!low || !high)
        break;
      if (*low > *high)
        refuseAs(EFFC_INVALID_ARGUMENT, first,
                 "expected a range from a lower to a higher character, but the "
                 "first is higher");
      set.add(*low, *high);
    }
    skip(']');
    return oneOf(isNegated ? set.complement() : set);
  }

  /// A character of a text or a set, possibly escaped.
  std::optional<uint32_t> readCharacter() {
    if (is('\\'))
      return readEscape();
    Utf8Step step = nextCharacter(text.substr(at));
    if (step.kind != Utf8Step::Character) {
      refuseAs(EFFC_INVALID_ARGUMENT, at, "expected UTF-8, but found byte ",
               static_cast<unsigned>(static_cast<uint8_t>(text[at])));
      return std::nullopt;
    }
    uint32_t code = static_cast<uint8_t>(text[at]);
    if (step.bytes > 1)
      code &= 0x7Fu >> step.bytes;
    for (size_t i = 1; i < step.bytes; ++i)
      code = code << 6 | (static_cast<uint8_t>(text[at + i]) & 0x3F);
    at += step.bytes;
    return code;
  }

  std::optional<uint32_t> readEscape() {
    size_t begin = at++;
    char kind = at < text.size() ? text[at] : '\0';
    ++at;
    switch (kind) {
    case 'x':
      return readHex(begin, 2);
    case 'u':
      return readHex(begin, 4);
    case 'U':
      return readHex(begin, 8);
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case 'n':
      return '\n';
    case '\\':
    case '"':
    case '[':
    case ']':
    case '-':
    case '^':
      return static_cast<uint32_t>(kind);
    default:
      refuseAs(EFFC_INVALID_ARGUMENT, begin,
               "expected one of \\n \\r \\t \\\\ \\\" \\[ \\] \\- \\^ \\x \\u "
               "\\U, but found another escape");
      return std::nullopt;
    }
  }

  std::optional<uint32_t> readHex(size_t begin, unsigned digits) {
    uint32_t code = 0;
    for (unsigned i = 0; i < digits; ++i, ++at) {
      char c = at < text.size() ? text[at] : '\0';
      uint32_t digit =
          c >= '0' && c <= '9'   ? static_cast<uint32_t>(c - '0')
          : c >= 'a' && c <= 'f' ? static_cast<uint32_t>(c - 'a') + 10
          : c >= 'A' && c <= 'F' ? static_cast<uint32_t>(c - 'A') + 10
                                 : 16;
      if (digit == 16) {
        refuseAs(EFFC_INVALID_ARGUMENT, begin, "expected ", digits,
                 " hexadecimal digits in an escape");
        return std::nullopt;
      }
      code = code << 4 | digit;
    }
    if (code > kMostCodePoint || (code >= 0xD800 && code <= 0xDFFF)) {
      refuseAs(EFFC_INVALID_ARGUMENT, begin,
               "expected a character, but the escape is none");
      return std::nullopt;
    }
    return code;
  }

  Expression readRepeats(Expression part) {
    for (unsigned count = 0; !error; ++count) {
      skipSpace();
      uint32_t least = 0, most = kNoLimit;
      size_t begin = at;
      if (skip('*')) {
      } else if (skip('+')) {
        least = 1;
      } else if (skip('?')) {
        most = 1;
      } else if (skip('{')) {
        if (!readBounds(begin, least, most))
          break;
      } else {
        break;
      }
      if (count >= 4)
        refuseAs(EFFC_UNSUPPORTED, begin,
                 "expected at most 4 repetitions of each other");
      part = repeat(std::move(part), least, most);
    }
    return part;
  }

  bool readBounds(size_t begin, uint32_t &least, uint32_t &most) {
    skipSpace();
    std::optional<uint32_t> low = readNumber();
    if (!low)
      return false;
    least = most = *low;
    skipSpace();
    if (skip(',')) {
      skipSpace();
      most = kNoLimit;
      if (!is('}')) {
        std::optional<uint32_t> high = readNumber();
        if (!high)
          return false;
        most = *high;
      }
    }
    skipSpace();
    if (!skip('}')) {
      expect("'}'");
      return false;
    }
    if (most < least) {
      refuseAs(EFFC_INVALID_ARGUMENT, begin, "expected a most of at least ",
               least, ", but found ", most);
      return false;
    }
    return true;
  }

  std::optional<uint32_t> readNumber() {
    size_t begin = at;
    uint64_t number = 0;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9' &&
           number <= kMostRepeats)
      number = number * 10 + static_cast<uint64_t>(text[at++] - '0');
    if (at == begin) {
      expect("a number of repetitions");
      return std::nullopt;
    }
    if (number > kMostRepeats) {
      refuseAs(EFFC_UNSUPPORTED, begin, "expected at most ", kMostRepeats,
               " repetitions");
      return std::nullopt;
    }
    return static_cast<uint32_t>(number);
  }

  void checkNames() {
    auto root = names.find("root");
    if (root == names.end() || !root->second.isDefined)
      return refuseAs(EFFC_INVALID_ARGUMENT, text.size(),
                      "expected a rule 'root', which the text is, but there is "
                      "none");
    rules.root = root->second.rule;
    for (const auto &[name, entry] : names)
      if (!entry.isDefined)
        return refuseAs(EFFC_INVALID_ARGUMENT, entry.firstUse, "rule '", name,
                        "' is not there");
  }

  std::string_view text;
  size_t at = 0;
  Rules rules;
  std::map<std::string, Name, std::less<>> names;
  Check error;
};
} // namespace

Result<Rules> grammar::readGbnf(std::string_view text) {
  if (text.size() > kMostTextBytes)
    return fail(EFFC_UNSUPPORTED, "expected a grammar of at most ",
                kMostTextBytes, " bytes, but found ", text.size());
  return Reader(text).run();
}
