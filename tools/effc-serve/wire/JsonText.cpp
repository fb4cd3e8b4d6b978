#include "tools/effc-serve/wire/JsonText.h"

#include <charconv>
#include <cmath>

using namespace effc;

/// What stands behind a backslash for `c`; 0: nothing short.
static char shortEscape(char c) {
  switch (c) {
  case '"':
  case '\\':
    return c;
  case '\n':
    return 'n';
  case '\r':
    return 'r';
  case '\t':
    return 't';
  default:
    return 0;
  }
}

void serve::appendQuoted(std::string &out, std::string_view text) {
  out += '"';
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\')
      continue;
    out += text.substr(begin, i - begin);
    begin = i + 1;
    constexpr char kDigits[] = "0123456789abcdef";
    if (char letter = shortEscape(text[i]))
      out += {'\\', letter};
    else
      out += {'\\', 'u', '0', '0', kDigits[c >> 4], kDigits[c & 15]};
  }
  out += text.substr(begin);
  out += '"';
}

void serve::appendNumber(std::string &out, float value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char text[32];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

void serve::appendNumber(std::string &out, uint64_t value) {
  char text[24];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}
