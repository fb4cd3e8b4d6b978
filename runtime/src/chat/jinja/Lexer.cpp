#include "runtime/src/chat/jinja/Lexer.h"

#include "runtime/src/chat/jinja/Characters.h"
#include "runtime/src/chat/jinja/Literals.h"
#include "runtime/src/tokenizer/unicode/Unicode.h"

#include <algorithm>

using namespace effc::rt;
using namespace effc::rt::jinja;

/// One kind of line end, and none at the end of the template.
static std::string withPlainLines(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (size_t at = 0; at < source.size(); ++at) {
    if (source[at] != '\r') {
      text += source[at];
      continue;
    }
    text += '\n';
    if (at + 1 < source.size() && source[at + 1] == '\n')
      ++at;
  }
  if (!text.empty() && text.back() == '\n')
    text.pop_back();
  return text;
}

namespace {
class Lexer {
public:
  explicit Lexer(std::string_view source) : text(withPlainLines(source)) {}

  Result<std::vector<Token>> run() {
    while (!error && at < text.size())
      readData();
    add(Token::End);
    if (error)
      return *error;
    return std::move(tokens);
  }

private:
  bool startsWith(std::string_view spelled) const {
    return std::string_view(text).substr(at).starts_with(spelled);
  }
  void add(Token::Form form, std::string content = {}) {
    tokens.push_back({form, line, std::move(content)});
  }
  void advance(size_t to) {
    line += static_cast<unsigned>(std::count(
        text.begin() + ptrdiff_t(at), text.begin() + ptrdiff_t(to), '\n'));
    at = to;
  }
  void refuse(const std::string &message) {
    if (!error)
      error = badData("line ", line, ": ", message);
  }
  size_t afterSpace(size_t from) const {
    while (from < text.size()) {
      unicode::Decoded next =
          unicode::decode(std::string_view(text).substr(from));
      if (!isSpace(next.character))
        break;
      from += next.bytes;
    }
    return from;
  }

  void readData();
  void addData(size_t begin, size_t end, char sign, bool isVariable);
  bool readRaw(size_t dataEnd);
  size_t endOfTag(std::string_view close, size_t from) const;
  void readComment();
  void readTag(bool isVariable);
  void readToken();
  void readName();
  void readOperator();

  std::string text;
  size_t at = 0;
  unsigned line = 1;
  bool lineStarts = true; // what stands before `at` ends a line
  std::vector<Token> tokens;
  std::string open; // brackets, by what closes them
  Check error;
};
} // namespace

static char signAt(const std::string &text, size_t at) {
  return at < text.size() && (text[at] == '-' || text[at] == '+') ? text[at]
                                                                  : 0;
}

/// The text before a tag, without the white space that the tag takes away: all of
/// it for `-`, that of its own line for a block without a sign.
void Lexer::addData(size_t begin, size_t end, char sign, bool isVariable) {
  std::string_view data = std::string_view(text).substr(begin, end - begin);
  size_t kept = data.size();
  if (sign == '-') {
    kept = strippedSpan(data, std::nullopt, false, true).end;
  } else if (sign != '+' && !isVariable) {
    size_t lineStart = data.rfind('\n') + 1; // 0 where there is none
    if ((lineStart > 0 || lineStarts) &&
        strippedSpan(data.substr(lineStart), std::nullopt, true, false).begin ==
            data.size() - lineStart)
      kept = lineStart;
  }
  if (kept > 0)
    add(Token::Data, std::string(data.substr(0, kept)));
  advance(end);
}

void Lexer::readData() {
  size_t begin = at, tag = at;
  for (;; ++tag) {
    tag = text.find('{', tag);
    if (tag == std::string::npos || tag + 1 >= text.size()) {
      addData(begin, text.size(), '+', false);
      return;
    }
    if (text[tag + 1] == '%' || text[tag + 1] == '{' || text[tag + 1] == '#')
      break;
  }
  if (text[tag + 1] == '%' && readRaw(tag))
    return;
  char sign = signAt(text, tag + 2);
  bool isVariable = text[tag + 1] == '{';
  addData(begin, tag, sign, isVariable);
  if (text[tag + 1] == '#') {
    at = tag + 2;
    readComment();
    return;
  }
  add(isVariable ? Token::VariableBegin : Token::BlockBegin);
  at = tag + 2 + (sign ? 1 : 0);
  readTag(isVariable);
}

/// The end of a tag that closes with `close` at `from`: 0 where none does. A `-`
/// takes what white space follows, a block without a sign one line end.
size_t Lexer::endOfTag(std::string_view close, size_t from) const {
  char sign = signAt(text, from);
  size_t end = from + (sign ? 1 : 0);
  if (!std::string_view(text)
           .substr(std::min(end, text.size()))
           .starts_with(close))
    return 0;
  end += close.size();
  if (sign == '-')
    return afterSpace(end);
  bool isVariable = close == "}}";
  if (sign == '+')
    return isVariable ? 0 : end;
  return !isVariable && end < text.size() && text[end] == '\n' ? end + 1 : end;
}

void Lexer::readComment() {
  for (size_t from = at; from < text.size(); ++from)
    if (size_t end = endOfTag("#}", from)) {
      advance(end);
      lineStarts = text[end - 1] == '\n';
      return;
    }
  refuse("expected '#}' to end the comment, but found the end of the template");
}

/// `{% raw %}` up to `{% endraw %}` at `tag`; false where there is no such tag.
bool Lexer::readRaw(size_t tag) {
  auto word = [&](size_t from, std::string_view spelled) {
    from = afterSpace(from);
    return std::string_view(text).substr(from).starts_with(spelled)
               ? afterSpace(from + spelled.size())
               : 0;
  };
  char sign = signAt(text, tag + 2);
  size_t after = word(tag + 2 + (sign ? 1 : 0), "raw");
  if (!after || (text.compare(after, 2, "%}") && text.compare(after, 3, "-%}")))
    return false;
  addData(at, tag, sign, false);
  bool strips = text[after] == '-';
  size_t begin = after + (strips ? 3 : 2);
  if (strips)
    begin = afterSpace(begin);
  advance(begin);
  lineStarts = text[begin - 1] == '\n';
  for (size_t from = begin; (from = text.find("{%", from)) != std::string::npos;
       ++from) {
    char endSign = signAt(text, from + 2);
    size_t close = word(from + 2 + (endSign ? 1 : 0), "endraw");
    size_t end = close ? endOfTag("%}", close) : 0;
    if (!end)
      continue;
    addData(begin, from, endSign, false);
    advance(end);
    lineStarts = text[end - 1] == '\n';
    return true;
  }
  refuse("expected '{% endraw %}', but found the end of the template");
  return true;
}

void Lexer::readTag(bool isVariable) {
  std::string_view close = isVariable ? "}}" : "%}";
  open.clear();
  while (!error) {
    advance(afterSpace(at));
    if (at >= text.size())
      return refuse("expected '" + std::string(close) +
                    "', but found the end of the template");
    if (open.empty())
      if (size_t end = endOfTag(close, at)) {
        add(isVariable ? Token::VariableEnd : Token::BlockEnd);
        advance(end);
        lineStarts = text[end - 1] == '\n';
        return;
      }
    readToken();
  }
}

static bool isDigit(char byte) { return byte >= '0' && byte <= '9'; }
static bool isNameByte(char byte) {
  return isDigit(byte) || byte == '_' || (byte >= 'a' && byte <= 'z') ||
         (byte >= 'A' && byte <= 'Z') || static_cast<uint8_t>(byte) >= 0x80;
}

void Lexer::readToken() {
  char first = text[at];
  std::string_view rest = std::string_view(text).substr(at);
  if (first == '"' || first == '\'') {
    size_t size = quotedSize(rest);
    if (size == 0)
      return refuse("expected the end of a text between quotes, but found the "
                    "end of the template");
    Result<std::string> content = unquote(rest.substr(1, size - 2));
    if (!content)
      return refuse(content.error().message);
    add(Token::String, std::move(*content));
    return advance(at + size);
  }
  if (isDigit(first)) {
    Result<Number> number = readNumber(rest);
    if (!number)
      return refuse(number.error().message);
    add(number->isFloat ? Token::Float : Token::Integer);
    tokens.back().whole = number->whole;
    tokens.back().number = number->value;
    return advance(at + number->size);
  }
  return isNameByte(first) ? readName() : readOperator();
}

void Lexer::readName() {
  size_t end = at;
  while (end < text.size() && isNameByte(text[end]))
    ++end;
  add(Token::Name, text.substr(at, end - at));
  advance(end);
}

void Lexer::readOperator() {
  static constexpr std::string_view kOperators[] = {
      "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
      "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"};
  for (std::string_view spelled : kOperators) {
    if (!startsWith(spelled))
      continue;
    char byte = spelled[0];
    if (byte == '(' || byte == '[' || byte == '{')
      open += byte == '(' ? ')' : byte == '[' ? ']' : '}';
    if (byte == ')' || byte == ']' || byte == '}') {
      if (open.empty() || open.back() != byte)
        return refuse(open.empty()
                          ? "expected no bracket to close, but found '" +
                                std::string(spelled) + "'"
                          : "expected '" + std::string(1, open.back()) +
                                "', but found '" + std::string(spelled) + "'");
      open.pop_back();
    }
    add(Token::Operator, std::string(spelled));
    return advance(at + spelled.size());
  }
  refuse("expected a name, a number, a text or an operator, but found '" +
         text.substr(at,
                     unicode::decode(std::string_view(text).substr(at)).bytes) +
         "'");
}

Result<std::vector<Token>> jinja::tokenize(std::string_view source) {
  return Lexer(source).run();
}
