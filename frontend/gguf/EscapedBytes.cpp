#include "frontend/gguf/EscapedBytes.h"

std::optional<std::string>
effc::frontend::readEscapedBytes(llvm::StringRef text) {
  std::string bytes;
  while (!text.empty()) {
    char c = text.front();
    text = text.drop_front();
    if (c != '\\') {
      bytes += c;
      continue;
    }
    if (text.empty())
      return std::nullopt;
    c = text.front();
    text = text.drop_front();
    unsigned code;
    switch (c) {
    case 't':
      bytes += '\t';
      break;
    case 'n':
      bytes += '\n';
      break;
    case 'r':
      bytes += '\r';
      break;
    case 'x':
      if (text.size() < 2 || text.take_front(2).getAsInteger(16, code))
        return std::nullopt;
      bytes += char(code);
      text = text.drop_front(2);
      break;
    case '\\':
    case '\'':
    case '"':
      bytes += c;
      break;
    default:
      return std::nullopt;
    }
  }
  return bytes;
}
