//===- Literals.h - Numbers and texts as templates spell them -------------===//
#ifndef EFFC_RUNTIME_SRC_CHAT_JINJA_LITERALS_H
#define EFFC_RUNTIME_SRC_CHAT_JINJA_LITERALS_H

#include "runtime/src/Error.h"

#include <cstdint>
#include <string_view>

namespace effc::rt::jinja {

struct Number {
  bool isFloat = false;
  int64_t whole = 0;
  double value = 0;
  size_t size = 0; // bytes read
};

/// The number that `text` starts with, as jinja2 reads one: `_` between digits,
/// 0b, 0o and 0x. EFFC_BAD_DATA: it is beyond 64 bits, or none.
Result<Number> readNumber(std::string_view text);

/// The bytes of the text in quotes that `text` starts with, quotes included; 0
/// where it does not end.
size_t quotedSize(std::string_view text);

/// What is meant between quotes, with Python's escapes.
Result<std::string> unquote(std::string_view content);

/// Python's spelling of a number: the shortest that reads as the same one.
std::string floatText(double number);

} // namespace effc::rt::jinja

#endif // EFFC_RUNTIME_SRC_CHAT_JINJA_LITERALS_H
