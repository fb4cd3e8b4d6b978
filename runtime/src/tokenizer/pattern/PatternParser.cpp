#include "runtime/src/tokenizer/pattern/PatternParser.h"

#include "runtime/src/tokenizer/unicode/Unicode.h"

#include <cstring>
#include <optional>

using namespace effc::rt;

namespace {

/// Of groups, and of the tree that groups, alternatives and repeats make together:
/// what walks the tree calls itself as deeply. Published patterns have less than
/// ten levels.
constexpr unsigned kMostDepth = 256;
constexpr unsigned kMostHeight = 1024;
constexpr uint32_t kMostCount = 65535;

bool isDigit(char c) { return c >= '0' && c <= '9'; }

class Parser {
public:
  explicit Parser(std::string_view text) : text(text) {}

  Result<ParsedPattern> run() {
    parsed.root = parseAlternatives();
    if (problem.empty() && at < text.size())
      problem = "a ')' without its '('";
    if (!problem.empty())
      return badData("pattern \"", startOfPattern(text), "\" is wrong at byte ",
                     at, ": ", problem);
    return std::move(parsed);
  }

private:
  std::string_view rest() const { return text.substr(at); }
  bool isAtEnd() const { return at >= text.size() || !problem.empty(); }
  bool take(std::string_view what) {
    if (!rest().starts_with(what))
      return false;
    at += what.size();
    return true;
  }
  char32_t takeCharacter() {
    unicode::Decoded decoded = unicode::decode(rest());
    at += decoded.bytes;
    return decoded.character;
  }

  PatternNode parseAlternatives() {
    if (++depth > kMostDepth)
      problem = "groups are nested too deeply";
    PatternNode node{PatternNode::Alternation};
    node.add(parseSequence());
    while (take("|"))
      node.add(parseSequence());
    --depth;
    if (node.children.size() == 1)
      return std::move(node.children[0]);
    if (node.height > kMostHeight)
      problem = "groups and repeats are nested too deeply";
    return node;
  }

  PatternNode parseSequence() {
    PatternNode node{PatternNode::Sequence};
    while (!isAtEnd() && text[at] != '|' && text[at] != ')') {
      if (take("(?i)")) {
        isCaseless = true;
        continue;
      }
      node.add(parseRepeats(parseItem()));
    }
    return node;
  }

  PatternNode parseRepeats(PatternNode item) {
    uint32_t least, most;
    while (!isAtEnd() && parseCount(least, most)) {
      PatternNode node{PatternNode::Repeat};
      node.least = least;
      node.most = most;
      if (take("?"))
        node.repetition = Repetition::Lazy;
      else if (take("+"))
        node.repetition = Repetition::Possessive;
      node.add(std::move(item));
      item = std::move(node);
      if (item.height > kMostHeight)
        problem = "groups and repeats are nested too deeply";
    }
    return item;
  }

  bool parseCount(uint32_t &least, uint32_t &most) {
    most = PatternNode::kNoLimit;
    if (take("*"))
      return least = 0, true;
    if (take("+"))
      return least = 1, true;
    if (take("?"))
      return least = 0, most = 1, true;
    if (!take("{"))
      return false;
    least = parseNumber();
    if (take(","))
      most = rest().starts_with("}") ? PatternNode::kNoLimit : parseNumber();
    else
      most = least;
    if (problem.empty() && !take("}"))
      problem = "a count does not end";
    if (problem.empty() && most < least)
      problem = "a count that goes down";
    return true;
  }

  uint32_t parseNumber() {
    if (isAtEnd() || !isDigit(text[at]))
      problem = "a count without a number";
    uint32_t number = 0;
    while (!isAtEnd() && isDigit(text[at])) {
      number = number * 10 + (text[at++] - '0');
      if (number > kMostCount)
        problem = "a count is too large";
    }
    return number;
  }

  PatternNode parseItem() {
    switch (text[at]) {
    case '(':
      return parseGroup();
    case '[':
      return parseClass();
    case '\\':
      return parseEscape();
    case '*':
    case '+':
    case '?':
    case '{':
      problem = "nothing to repeat";
      return {PatternNode::Sequence};
    case '.':
    case '^':
    case '$':
      problem = "'.', '^' and '$' are written as classes and looks";
      return {PatternNode::Sequence};
    default:
      return makeSet(takeCharacter());
    }
  }

  PatternNode parseGroup() {
    struct Opening {
      const char *text;
      PatternNode::Kind kind;
      bool behind, negative;
      std::optional<bool> caseless;
    };
    static const Opening kOpenings[] = {
        {"(?:", PatternNode::Sequence, false, false, {}},
        {"(?=", PatternNode::Look, false, false, {}},
        {"(?!", PatternNode::Look, false, true, {}},
        {"(?<=", PatternNode::Look, true, false, {}},
        {"(?<!", PatternNode::Look, true, true, {}},
        {"(?>", PatternNode::Atomic, false, false, {}},
        {"(?i:", PatternNode::Sequence, false, false, true},
        {"(?-i:", PatternNode::Sequence, false, false, false},
        {"(?", PatternNode::Set, false, false, {}},
        {"(", PatternNode::Sequence, false, false, {}}};
    const Opening *opening = kOpenings;
    while (!take(opening->text))
      ++opening;
    if (opening->kind == PatternNode::Set) {
      problem = "an unknown kind of group";
      return {PatternNode::Sequence};
    }
    bool outerCaseless = isCaseless;
    if (opening->caseless)
      isCaseless = *opening->caseless;
    PatternNode node{opening->kind};
    node.behind = opening->behind;
    node.negative = opening->negative;
    node.add(parseAlternatives());
    isCaseless = outerCaseless;
    if (problem.empty() && node.height > kMostHeight)
      problem = "groups and repeats are nested too deeply";
    if (problem.empty() && !take(")"))
      problem = "a group does not end";
    return node;
  }

  PatternNode makeSet(CharacterSet set) {
    set.seal();
    PatternNode node{PatternNode::Set};
    node.set = static_cast<uint32_t>(parsed.sets.size());
    parsed.sets.push_back(std::move(set));
    return node;
  }
  PatternNode makeSet(char32_t character) {
    CharacterSet set;
    set.addRange(character, character);
    if (isCaseless)
      set.addOtherCase();
    return makeSet(std::move(set));
  }

  PatternNode parseEscape() {
    CharacterSet set;
    if (std::optional<char32_t> character = takeEscape(set))
      return makeSet(*character);
    return makeSet(std::move(set));
  }

  /// One character, or nothing when a property has been added to `set`.
  std::optional<char32_t> takeEscape(CharacterSet &set) {
    constexpr std::pair<char, char> kControls[] = {
        {'a', 7}, {'e', 27}, {'f', 12}, {'n', 10}, {'r', 13}, {'t', 9}};
    ++at; // the backslash
    if (isAtEnd()) {
      problem = "ends in a backslash";
      return 0;
    }
    char letter = text[at];
    if (letter == 'p' || letter == 'P') {
      ++at;
      takeProperty(set, letter == 'P');
      return std::nullopt;
    }
    constexpr std::pair<char, std::pair<const char *, bool>> kClasses[] = {
        {'s', {"White_Space", false}},
        {'S', {"White_Space", true}},
        {'d', {"Nd", false}},
        {'D', {"Nd", true}}};
    for (auto [name, property] : kClasses)
      if (letter == name) {
        ++at;
        set.addProperty(property.first, property.second);
        return std::nullopt;
      }
    if (letter == 'x') {
      ++at;
      return takeHex();
    }
    for (auto [name, value] : kControls)
      if (letter == name) {
        ++at;
        return value;
      }
    bool isAlnum = isDigit(letter) || (letter >= 'a' && letter <= 'z') ||
                   (letter >= 'A' && letter <= 'Z');
    if (isAlnum)
      problem = "an unknown escape";
    return takeCharacter();
  }

  void takeProperty(CharacterSet &set, bool negated) {
    size_t end = text.find('}', at);
    if (!take("{") || end == std::string_view::npos) {
      problem = "a property without braces";
      return;
    }
    if (take("^"))
      negated = !negated;
    if (!set.addProperty(text.substr(at, end - at), negated))
      problem = "an unknown property";
    at = end + 1;
  }

  char32_t takeHex() {
    bool isBraced = take("{");
    char32_t value = 0;
    size_t begin = at;
    auto digitOf = [](char c) {
      const char *digits = "0123456789abcdef0123456789ABCDEF";
      const char *found = c ? std::strchr(digits, c) : nullptr;
      return found ? (found - digits) % 16 : -1;
    };
    while (!isAtEnd() && digitOf(text[at]) >= 0 &&
           (isBraced || at < begin + 2)) {
      value = value * 16 + digitOf(text[at++]);
      if (value > 0x10FFFF)
        problem = "a character past U+10FFFF";
    }
    if (problem.empty() && (at == begin || (isBraced && !take("}"))))
      problem = "a character without its number";
    if (value >= 0xD800 && value <= 0xDFFF)
      problem = "a surrogate";
    return problem.empty() ? value : 0;
  }

  /// A character of a class, or nothing after a property.
  std::optional<char32_t> takeClassItem(CharacterSet &set) {
    if (text[at] == '\\')
      return takeEscape(set);
    return takeCharacter();
  }

  PatternNode parseClass() {
    CharacterSet set;
    ++at; // the bracket
    bool isNegated = take("^");
    while (!isAtEnd() && text[at] != ']') {
      std::optional<char32_t> first = takeClassItem(set);
      bool isRange = first && rest().size() > 1 && rest()[0] == '-' &&
                     rest()[1] != ']' && problem.empty();
      if (!isRange) {
        if (first)
          set.addRange(*first, *first);
        continue;
      }
      ++at; // the hyphen
      std::optional<char32_t> last = takeClassItem(set);
      if (!last || *last < *first)
        problem = "a range that goes down";
      else
        set.addRange(*first, *last);
    }
    if (problem.empty() && !take("]"))
      problem = "a class does not end";
    if (isCaseless)
      set.addOtherCase();
    if (isNegated)
      set.negate();
    return makeSet(std::move(set));
  }

  std::string_view text;
  size_t at = 0;
  unsigned depth = 0;
  bool isCaseless = false;
  std::string problem;
  ParsedPattern parsed;
};

} // namespace

std::string effc::rt::startOfPattern(std::string_view text) {
  constexpr size_t kMost = 200;
  if (text.size() <= kMost)
    return std::string(text);
  return std::string(
             text.substr(0, unicode::lastStart(text.substr(0, kMost)))) +
         "...";
}

Result<ParsedPattern> effc::rt::parsePattern(std::string_view text) {
  return Parser(text).run();
}
