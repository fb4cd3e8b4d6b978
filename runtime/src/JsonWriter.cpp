#include "runtime/src/JsonWriter.h"

#include "runtime/src/tokenizer/Utf8.h"

#include <charconv>
#include <cmath>
#include <cstdio>

using namespace effc::rt;

void JsonWriter::separate() {
  if (afterValue)
    text += ',';
  afterValue = false;
}

void JsonWriter::open(char bracket) {
  separate();
  text += bracket;
}

void JsonWriter::close(char bracket) {
  text += bracket;
  afterValue = true;
}

void JsonWriter::write(std::string_view token) {
  separate();
  text += token;
  afterValue = true;
}

void JsonWriter::quote(std::string_view content) {
  text += '"';
  for (char c : makeValidUtf8(content)) {
    switch (c) {
    case '"':
    case '\\':
      text += '\\';
      text += c;
      break;
    case '\n':
      text += "\\n";
      break;
    case '\t':
      text += "\\t";
      break;
    default:
      if (static_cast<unsigned char>(c) < 0x20) {
        char escaped[8];
        std::snprintf(escaped, sizeof escaped, "\\u%04x", unsigned(c));
        text += escaped;
      } else {
        text += c;
      }
    }
  }
  text += '"';
}

void JsonWriter::key(std::string_view name) {
  separate();
  quote(name);
  text += ':';
}

void JsonWriter::value(std::string_view content) {
  separate();
  quote(content);
  afterValue = true;
}

void JsonWriter::value(double number) {
  if (!std::isfinite(number))
    return write("null");
  // Unlike printf, to_chars knows no locale with a decimal comma.
  char digits[40];
  char *end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  write(std::string_view(digits, end - digits));
}
