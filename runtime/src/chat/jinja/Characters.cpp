#include "runtime/src/chat/jinja/Characters.h"

#include "runtime/src/tokenizer/unicode/Unicode.h"

#include <algorithm>
#include <unordered_map>

using namespace effc::rt;
using namespace effc::rt::jinja;
using unicode::Category;
using unicode::Decoded;

bool jinja::isSpace(char32_t character) {
  // The separators U+001C to U+001F are space to Python, but not to Unicode.
  if (character < 0x80)
    return character == ' ' || (character >= 9 && character <= 13) ||
           (character >= 0x1C && character <= 0x1F);
  return unicode::lookUp(character).is(unicode::White);
}

bool jinja::isPrintable(char32_t character) {
  if (character < 0x80)
    return character >= 0x20 && character < 0x7F;
  switch (unicode::lookUp(character).category) {
  case Category::Cc:
  case Category::Cf:
  case Category::Cn:
  case Category::Co:
  case Category::Cs:
  case Category::Zl:
  case Category::Zp:
  case Category::Zs:
    return false;
  default:
    return true;
  }
}

bool jinja::isUpper(char32_t character) {
  return unicode::lookUp(character).category == Category::Lu;
}
bool jinja::isLower(char32_t character) {
  return unicode::lookUp(character).category == Category::Ll;
}

size_t jinja::countCharacters(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) {
        return (static_cast<uint8_t>(byte) & 0xC0) != 0x80;
      }));
}

size_t jinja::offsetOf(std::string_view text, size_t index) {
  size_t at = 0;
  for (; index > 0 && at < text.size(); --index)
    at += unicode::decode(text.substr(at)).bytes;
  return at;
}

Span jinja::strippedSpan(std::string_view text,
                         const std::optional<std::string> &characters,
                         bool left, bool right) {
  auto goes = [&](size_t at) {
    Decoded found = unicode::decode(text.substr(at));
    if (!characters)
      return isSpace(found.character);
    // A whole character of valid UTF-8 is found at no other place than one.
    return characters->find(text.substr(at, found.bytes)) != std::string::npos;
  };
  Span span{0, text.size()};
  while (left && span.begin < span.end && goes(span.begin))
    span.begin += unicode::decode(text.substr(span.begin)).bytes;
  while (right && span.begin < span.end) {
    size_t last = unicode::lastStart(text.substr(0, span.end));
    if (!goes(last))
      break;
    span.end = last;
  }
  return span;
}

static bool isCased(char32_t character) {
  Category category = unicode::lookUp(character).category;
  return category == Category::Lu || category == Category::Ll ||
         category == Category::Lt;
}

/// Whether the sigma at `at` ends a word: a letter is before it and none after.
static bool endsWord(std::string_view text, size_t at) {
  auto skipped = [](char32_t character) {
    return unicode::lookUp(character).is(unicode::Nonspacing);
  };
  size_t before = at;
  bool follows = false;
  while (before > 0 && !follows) {
    before = unicode::lastStart(text.substr(0, before));
    char32_t character = unicode::decode(text.substr(before)).character;
    if (!skipped(character)) {
      follows = isCased(character);
      break;
    }
  }
  if (!follows)
    return false;
  for (size_t after = at + 2; after < text.size();) {
    Decoded next = unicode::decode(text.substr(after));
    if (!skipped(next.character))
      return !isCased(next.character);
    after += next.bytes;
  }
  return true;
}

Text jinja::toLower(const Text &text) {
  Text lower;
  const std::string &bytes = text.bytes();
  std::string one;
  for (size_t at = 0; at < bytes.size();) {
    Decoded found = unicode::decode(std::string_view(bytes).substr(at));
    one.clear();
    std::u32string_view mapped = unicode::toLower(found.character);
    if (found.character == 0x3A3 && endsWord(bytes, at))
      unicode::append(0x3C2, one);
    else if (mapped.empty())
      one.assign(bytes, at, found.bytes);
    else
      for (char32_t character : mapped)
        unicode::append(character, one);
    lower.appendFor(one, text, at);
    at += found.bytes;
  }
  lower.isSafe = text.isSafe;
  return lower;
}

/// From a lower letter to the capital that has it as its lower case.
static const std::unordered_map<char32_t, char32_t> &capitals() {
  static const auto table = [] {
    std::unordered_map<char32_t, char32_t> made;
    for (char32_t character = 0; character < 0x20000; ++character) {
      if (unicode::lookUp(character).category == Category::Lt)
        continue; // a title letter shares its lower one with a capital
      std::u32string_view lower = unicode::toLower(character);
      if (lower.size() == 1 && lower[0] != character)
        made.emplace(lower[0], character);
    }
    // Letters that share a capital with another, and one that has two letters.
    made[0x131] = 'I';
    made[0x17F] = 'S';
    made[0xB5] = 0x39C;
    made[0x3C2] = 0x3A3;
    made['k'] = 'K';
    made[0xE5] = 0xC5;
    made[0x3C9] = 0x3A9;
    made.erase(0xDF);
    return made;
  }();
  return table;
}

std::optional<Text> jinja::toUpper(const Text &text) {
  Text upper;
  const std::string &bytes = text.bytes();
  std::string one;
  for (size_t at = 0; at < bytes.size();) {
    Decoded found = unicode::decode(std::string_view(bytes).substr(at));
    one.clear();
    if (found.character < 0x80) {
      char letter = bytes[at];
      one += letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 32)
                                            : letter;
    } else if (found.character == 0xDF) {
      one = "SS";
    } else if (auto capital = capitals().find(found.character);
               capital != capitals().end()) {
      unicode::append(capital->second, one);
    } else if (isLower(found.character)) {
      return std::nullopt;
    } else {
      one.assign(bytes, at, found.bytes);
    }
    upper.appendFor(one, text, at);
    at += found.bytes;
  }
  upper.isSafe = text.isSafe;
  return upper;
}

std::vector<Text> jinja::splitLines(const Text &text) {
  std::vector<Text> lines;
  const std::string &bytes = text.bytes();
  size_t start = 0;
  for (size_t at = 0; at < bytes.size();) {
    Decoded found = unicode::decode(std::string_view(bytes).substr(at));
    char32_t character = found.character;
    size_t next = at + found.bytes;
    bool ends = (character >= 10 && character <= 13) ||
                (character >= 0x1C && character <= 0x1E) || character == 0x85 ||
                character == 0x2028 || character == 0x2029;
    if (character == '\r' && next < bytes.size() && bytes[next] == '\n')
      ++next;
    if (ends) {
      lines.push_back(text.slice(start, at));
      start = next;
    }
    at = next;
  }
  if (start < bytes.size())
    lines.push_back(text.slice(start, bytes.size()));
  return lines;
}
