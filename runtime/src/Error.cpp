#include "runtime/src/Error.h"

#include <charconv>

using namespace effc::rt;

std::string effc::rt::onOneLine(std::string text) {
  for (size_t at = 0; at < text.size(); ++at)
    if (auto byte = static_cast<unsigned char>(text[at]);
        byte < 0x20 || byte == 0x7F) {
      const char *digits = "0123456789abcdef";
      text.replace(at, 1, {'\\', 'x', digits[byte >> 4], digits[byte & 15]});
      at += 3;
    }
  return text;
}

void MessagePart::writeSigned(long long number) {
  auto written = std::to_chars(digits, digits + sizeof digits, number);
  text = {digits, static_cast<size_t>(written.ptr - digits)};
}

void MessagePart::writeUnsigned(unsigned long long number) {
  auto written = std::to_chars(digits, digits + sizeof digits, number);
  text = {digits, static_cast<size_t>(written.ptr - digits)};
}

void MessagePart::writeReal(double number) {
  auto written = std::to_chars(digits, digits + sizeof digits, number,
                               std::chars_format::general, 6);
  text = {digits, static_cast<size_t>(written.ptr - digits)};
}

Error effc::rt::makeError(effc_status_code_t code,
                          std::initializer_list<MessagePart> parts) {
  std::string message;
  for (const MessagePart &part : parts)
    message += part.shown();
  return {code, onOneLine(std::move(message))};
}
