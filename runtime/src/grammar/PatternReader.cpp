#include "runtime/src/grammar/PatternReader.h"

#include "runtime/src/tokenizer/Utf8.h"

#include <optional>

using namespace effc::rt;
using namespace effc::rt::grammar;

static const CharacterSet kWord = {
    {'a', 'z'}, {'A', 'Z'}, {'0', '9'}, {'_', '_'}};
static const CharacterSet kSpace = {{' ', ' '}, {'\t', '\r'}};
static const CharacterSet kAscii = {{0, 0x7F}};
/// What `.` leaves out in one language or the other.
static const CharacterSet kLineEnds = {
    {'\n', '\n'}, {'\r', '\r'}, {0x85, 0x85}, {0x2028, 0x2029}};

namespace {
class Reader {
public:
  /// `json` says how characters are written; null: as they are, and the pattern is
  /// the whole text.
  Reader(std::string_view pattern, JsonRules *json)
      : pattern(pattern), json(json) {}

  Result<Expression> run() {
    Expression read = readWhole();
    if (!error && at < pattern.size())
      refuse(EFFC_INVALID_ARGUMENT, "a ')' without its '('");
    if (error)
      return *error;
    return read;
  }

private:
  void refuse(effc_status_code_t code, std::string_view what) {
    if (!error)
      error = fail(code, "the pattern '", std::string(pattern), "' has ", what,
                   " at byte ", at);
    at = pattern.size();
  }
  bool is(char byte) const {
    return at < pattern.size() && pattern[at] == byte;
  }
  bool skip(char byte) {
    bool found = is(byte);
    at += found;
    return found;
  }

  /// Choices with anchors of their own.
  Expression readWhole() {
    std::vector<Expression> choices;
    do {
      std::vector<Expression> parts;
      if (!skip('^') && json)
        parts.push_back(repeat(json->character(), 0));
      parts.push_back(readSequence(0));
      if (!skip('$')) {
        if (json)
          parts.push_back(repeat(json->character(), 0));
      } else if (at < pattern.size() && !is('|')) {
        refuse(EFFC_UNSUPPORTED, "'$' within");
      }
      choices.push_back(sequence(std::move(parts)));
    } while (!error && skip('|'));
    return choice(std::move(choices));
  }

  Expression charactersOf(const CharacterSet &set) {
    return json ? json->characters(set) : oneOf(set);
  }

  Expression readChoice(unsigned depth) {
    std::vector<Expression> choices;
    do
      choices.push_back(readSequence(depth));
    while (!error && skip('|'));
    return choice(std::move(choices));
  }

  Expression readSequence(unsigned depth) {
    std::vector<Expression> parts;
    while (!error && at < pattern.size() && !is('|') && !is(')') &&
           !(is('$') && depth == 0))
      parts.push_back(readRepeat(readPart(depth)));
    return sequence(std::move(parts));
  }

  Expression readPart(unsigned depth) {
    switch (pattern[at]) {
    case '(':
      return readGroup(depth);
    case '[':
      return charactersOf(readSet());
    case '.':
      ++at;
      return charactersOf(kLineEnds.complement());
    case '\\':
      return charactersOf(readEscape(false));
    case '^':
    case '$':
      refuse(EFFC_UNSUPPORTED, "'^' or '$' within");
      return {};
    case '*':
    case '+':
    case '?':
    case '{':
      refuse(EFFC_INVALID_ARGUMENT, "a repetition of nothing");
      return {};
    case ']':
    case '}':
      refuse(EFFC_UNSUPPORTED, "a closing bracket without its opening one");
      return {};
    default:
      return charactersOf(single(readCharacter()));
    }
  }

  Expression readGroup(unsigned depth) {
    ++at;
    if (depth + 1 >= kMostNesting)
      refuse(EFFC_UNSUPPORTED, "too many brackets in each other");
    if (skip('?') && !skip(':'))
      refuse(EFFC_UNSUPPORTED, "a group of another kind than '(...)' and "
                               "'(?:...)', which is not understood,");
    Expression inner = readChoice(depth + 1);
    if (!error && !skip(')'))
      refuse(EFFC_INVALID_ARGUMENT, "no ')' where one is missing");
    return inner;
  }

  static CharacterSet single(uint32_t code) { return {{code, code}}; }

  uint32_t readCharacter() {
    Utf8Step step = nextCharacter(pattern.substr(at));
    uint32_t code = static_cast<uint8_t>(pattern[at]);
    if (step.bytes > 1)
      code &= 0x7Fu >> step.bytes;
    for (size_t i = 1; i < step.bytes; ++i)
      code = code << 6 | (static_cast<uint8_t>(pattern[at + i]) & 0x3F);
    at += step.bytes;
    return code;
  }

  CharacterSet readEscape(bool isInSet) {
    size_t begin = at++;
    char kind = at < pattern.size() ? pattern[at] : '\0';
    ++at;
    auto within = [](const CharacterSet &set) {
      return set.complement().common(kAscii);
    };
    switch (kind) {
    case 'd':
      return digits();
    case 'w':
      return kWord;
    case 's':
      return kSpace;
    case 'D':
      return within(digits());
    case 'W':
      return within(kWord);
    case 'S':
      return within(kSpace).common({{0x21, 0x7E}});
    case 't':
      return single('\t');
    case 'n':
      return single('\n');
    case 'r':
      return single('\r');
    case 'f':
      return single('\f');
    case 'v':
      return single('\v');
    case 'x':
      return readHex(2);
    case 'u':
      return readHex(4);
    default:
      break;
    }
    bool isMark =
        kind > 0x20 && kind < 0x7F && !kWord.has(static_cast<uint32_t>(kind));
    if (isMark || (isInSet && kind == '-'))
      return single(static_cast<uint32_t>(kind));
    at = begin;
    refuse(EFFC_UNSUPPORTED, "an escape that is not understood");
    return {};
  }

  CharacterSet readHex(unsigned count) {
    uint32_t code = 0;
    for (unsigned i = 0; i < count && !error; ++i) {
      char c = at < pattern.size() ? pattern[at] : '\0';
      if (c >= '0' && c <= '9')
        code = code * 16 + static_cast<uint32_t>(c - '0');
      else if ((c | 32) >= 'a' && (c | 32) <= 'f')
        code = code * 16 + static_cast<uint32_t>((c | 32) - 'a') + 10;
      else
        refuse(EFFC_INVALID_ARGUMENT, "no hexadecimal digits behind an escape");
      ++at;
    }
    return single(code);
  }

  CharacterSet readSet() {
    ++at;
    bool isNegated = skip('^');
    CharacterSet set;
    while (!error && !is(']')) {
      if (at >= pattern.size()) {
        refuse(EFFC_INVALID_ARGUMENT, "no ']' where one is missing");
        break;
      }
      if (is('[') || pattern.substr(at).starts_with("&&") ||
          pattern.substr(at).starts_with("--")) {
        refuse(EFFC_UNSUPPORTED, "a set whose meaning differs by language");
        break;
      }
      CharacterSet first =
          is('\\') ? readEscape(true) : single(readCharacter());
      bool isRange =
          is('-') && at + 1 < pattern.size() && pattern[at + 1] != ']';
      if (!isRange) {
        set.add(first);
        continue;
      }
      ++at;
      CharacterSet last = is('\\') ? readEscape(true) : single(readCharacter());
      std::vector<CodeRange> low = first.ranges(), high = last.ranges();
      if (error)
        break;
      if (low.size() != 1 || high.size() != 1 || low[0].first != low[0].last ||
          high[0].first != high[0].last || low[0].first > high[0].first) {
        refuse(EFFC_INVALID_ARGUMENT, "no range from a lower to a higher "
                                      "character before");
        break;
      }
      set.add(low[0].first, high[0].first);
    }
    skip(']');
    return isNegated ? set.complement() : set;
  }

  Expression readRepeat(Expression part) {
    if (error || at >= pattern.size())
      return part;
    uint32_t least = 0, most = kNoLimit;
    if (skip('*')) {
    } else if (skip('+')) {
      least = 1;
    } else if (skip('?')) {
      most = 1;
    } else if (skip('{')) {
      std::optional<uint32_t> low = readNumber(), high = low;
      if (low && skip(','))
        high = is('}') ? kNoLimit : readNumber();
      if (!low || !high || !skip('}') || *high < *low) {
        refuse(EFFC_INVALID_ARGUMENT, "no '{n}', '{n,}' or '{n,m}' up to here");
        return part;
      }
      least = *low;
      most = *high;
    } else {
      return part;
    }
    skip('?'); // the same texts, only found in another order
    if (is('*') || is('+') || is('?') || is('{'))
      refuse(EFFC_UNSUPPORTED, "a repetition of a repetition");
    return repeat(std::move(part), least, most);
  }

  std::optional<uint32_t> readNumber() {
    uint64_t number = 0;
    size_t begin = at;
    while (at < pattern.size() && pattern[at] >= '0' && pattern[at] <= '9') {
      number = number * 10 + static_cast<uint64_t>(pattern[at++] - '0');
      if (number > kMostRepeats) {
        refuse(EFFC_UNSUPPORTED, "too many repetitions");
        return std::nullopt;
      }
    }
    if (at == begin)
      return std::nullopt;
    return static_cast<uint32_t>(number);
  }

  std::string_view pattern;
  JsonRules *json;
  size_t at = 0;
  Check error;
};
} // namespace

Result<Expression> grammar::readPattern(std::string_view pattern,
                                        JsonRules &json) {
  return Reader(pattern, &json).run();
}

Result<Rules> grammar::rulesOfPattern(std::string_view pattern) {
  if (pattern.size() > kMostTextBytes)
    return fail(EFFC_UNSUPPORTED, "expected an expression of at most ",
                kMostTextBytes, " bytes, but found ", pattern.size());
  if (makeValidUtf8(pattern) != pattern)
    return invalidArgument("the expression is not UTF-8");
  Result<Expression> read = Reader(pattern, nullptr).run();
  if (!read)
    return read.error();
  Rules rules;
  rules.root = rules.add("root", std::move(*read));
  if (Check wrong = checkRules(rules))
    return *wrong;
  return rules;
}
