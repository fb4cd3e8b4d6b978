//===- Lexer.h - A template's tokens --------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_CHAT_JINJA_LEXER_H
#define EFFC_RUNTIME_SRC_CHAT_JINJA_LEXER_H

#include "runtime/src/Error.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace effc::rt::jinja {

struct Token {
  enum Form : uint8_t {
    Data, // text outside of tags
    VariableBegin,
    VariableEnd,
    BlockBegin,
    BlockEnd,
    Name,
    String, // without quotes and escapes
    Integer,
    Float,
    Operator,
    End
  };
  Form form;
  unsigned line;
  std::string text; // of Name, String and Operator, and of Data
  int64_t whole = 0;
  double number = 0;

  bool is(Form wanted, std::string_view spelled) const {
    return form == wanted && text == spelled;
  }
  bool isName(std::string_view spelled) const { return is(Name, spelled); }
  bool isOperator(std::string_view spelled) const {
    return is(Operator, spelled);
  }
};

/// The tokens of `source`, which is valid UTF-8, with End as the last. White space
/// around tags goes as trim_blocks, lstrip_blocks and the signs + and - say.
/// EFFC_BAD_DATA: no token starts somewhere; the message starts with the line.
Result<std::vector<Token>> tokenize(std::string_view source);

} // namespace effc::rt::jinja

#endif // EFFC_RUNTIME_SRC_CHAT_JINJA_LEXER_H
