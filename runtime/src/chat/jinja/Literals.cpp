#include "runtime/src/chat/jinja/Literals.h"

#include "runtime/src/tokenizer/unicode/Unicode.h"

#include <charconv>
#include <cmath>

using namespace effc::rt;
using namespace effc::rt::jinja;

static bool isDigit(char byte) { return byte >= '0' && byte <= '9'; }

/// Digits of `base` from `at` on, each possibly after one `_`; what they are goes
/// to `digits`.
static size_t readDigits(std::string_view text, size_t at, int base,
                         std::string &digits) {
  auto isOne = [&](size_t i) {
    if (i >= text.size())
      return false;
    int value = isDigit(text[i]) ? text[i] - '0' : (text[i] | 32) - 'a' + 10;
    return value >= 0 && value < base &&
           (isDigit(text[i]) ||
            ((text[i] | 32) >= 'a' && (text[i] | 32) <= 'f'));
  };
  while (true) {
    if (isOne(at))
      digits += text[at++];
    else if (at < text.size() && text[at] == '_' && isOne(at + 1))
      ++at;
    else
      return at;
  }
}

Result<Number> jinja::readNumber(std::string_view text) {
  Number number;
  std::string digits;
  int base = 10;
  size_t at = 0;
  if (text.size() > 2 && text[0] == '0') {
    char letter = static_cast<char>(text[1] | 32);
    int other = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
    if (other && readDigits(text, 2, other, digits) > 2) {
      base = other;
      at = 2;
    }
    digits.clear();
  }
  at = readDigits(text, at, base, digits);
  std::string spelled = digits;
  if (base == 10) {
    std::string fraction, exponent;
    size_t end = at;
    if (at + 1 < text.size() && text[at] == '.' && isDigit(text[at + 1])) {
      end = readDigits(text, at + 1, 10, fraction);
      spelled += "." + fraction;
      number.isFloat = true;
    }
    if (end < text.size() && (text[end] | 32) == 'e') {
      size_t from = end + 1;
      if (from < text.size() && (text[from] == '+' || text[from] == '-'))
        ++from;
      size_t last = readDigits(text, from, 10, exponent);
      if (!exponent.empty()) {
        spelled +=
            "e" + std::string(text[from - 1] == '-' ? "-" : "") + exponent;
        number.isFloat = true;
        end = last;
      }
    }
    at = end;
  }
  number.size = at;
  if (number.isFloat) {
    auto [last, code] = std::from_chars(
        spelled.data(), spelled.data() + spelled.size(), number.value);
    if (code != std::errc())
      return badData("expected a number that double holds, but found ",
                     spelled);
    return number;
  }
  auto [last, code] = std::from_chars(
      digits.data(), digits.data() + digits.size(), number.whole, base);
  if (code != std::errc())
    return badData("expected a whole number of 64 bits, but found ", digits);
  return number;
}

size_t jinja::quotedSize(std::string_view text) {
  for (size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '\\')
      ++at;
    else if (text[at] == text[0])
      return at + 1;
  }
  return 0;
}

/// Digits of base 8 or 16 at `at`, `least` to `most` of them; moves `at` past.
static std::optional<char32_t> readCode(std::string_view content, size_t &at,
                                        int base, size_t least, size_t most) {
  std::string digits;
  while (digits.size() < most && at < content.size() &&
         (isDigit(content[at]) || base == 16))
    digits += content[at++];
  uint32_t code = 0;
  auto [last, problem] =
      std::from_chars(digits.data(), digits.data() + digits.size(), code, base);
  size_t read = static_cast<size_t>(last - digits.data());
  if (problem != std::errc() || read < least)
    return std::nullopt;
  at -= digits.size() - read;
  return code;
}

Result<std::string> jinja::unquote(std::string_view content) {
  static constexpr std::string_view kFrom = "\\'\"abfnrtv",
                                    kTo = "\\'\"\a\b\f\n\r\t\v";
  std::string text;
  for (size_t at = 0; at < content.size();) {
    char byte = content[at++];
    if (byte != '\\' || at >= content.size()) {
      text += byte;
      continue;
    }
    char letter = content[at];
    std::optional<char32_t> code;
    if (size_t found = kFrom.find(letter); found != std::string_view::npos) {
      text += kTo[found];
      ++at;
      continue;
    }
    if (letter == '\n') {
      ++at;
      continue;
    }
    if (letter >= '0' && letter <= '7') {
      code = readCode(content, at, 8, 1, 3);
    } else if (letter == 'x' || letter == 'u' || letter == 'U') {
      size_t count = letter == 'x' ? 2 : letter == 'u' ? 4 : 8;
      code = readCode(content, ++at, 16, count, count);
    } else if (letter == 'N') {
      return badData(
          "expected an escape by number, but found one by name, '\\N'");
    } else {
      text += byte; // Python keeps what is no escape
      continue;
    }
    if (!code || *code > 0x10FFFF || (*code >= 0xD800 && *code < 0xE000))
      return badData("expected the number of a character after '\\", letter,
                     "', but found none");
    unicode::append(*code, text);
  }
  return text;
}

std::string jinja::floatText(double number) {
  if (std::isnan(number))
    return "nan";
  if (std::isinf(number))
    return number < 0 ? "-inf" : "inf";
  char buffer[64];
  auto end = std::to_chars(buffer, buffer + sizeof(buffer), number,
                           std::chars_format::scientific)
                 .ptr;
  std::string_view shortest(buffer, static_cast<size_t>(end - buffer));
  size_t mark = shortest.find('e');
  int exponent = 0;
  size_t sign = shortest[mark + 1] == '+' ? 1 : 0;
  std::from_chars(buffer + mark + 1 + sign, end, exponent);
  // Python's repr() counts in powers of ten below 1e-4 and from 1e16 on.
  if (exponent < -4 || exponent >= 16)
    return std::string(shortest);
  end = std::to_chars(buffer, buffer + sizeof(buffer), number,
                      std::chars_format::fixed)
            .ptr;
  std::string text(buffer, end);
  return text.find('.') == std::string::npos ? text + ".0" : text;
}
