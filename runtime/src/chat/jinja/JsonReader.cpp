#include "runtime/src/chat/jinja/Json.h"
#include "runtime/src/tokenizer/Utf8.h"
#include "runtime/src/tokenizer/unicode/Unicode.h"

#include <charconv>

using namespace effc::rt;
using namespace effc::rt::jinja;

namespace {
class Reader {
public:
  Reader(std::string_view what, std::string_view text)
      : what(what), text(text) {}

  Result<Value> run() {
    Value value = readValue();
    skipSpace();
    if (!error && at < text.size())
      refuse("the end");
    if (error)
      return *error;
    return value;
  }

private:
  Value refuse(std::string_view expected) {
    if (!error) {
      std::string found = "the end";
      if (at < text.size())
        found = "'" + makeValidUtf8(text.substr(at, 1)) + "'";
      error = invalidArgument("'", what, "' is no JSON: expected ", expected,
                              " at byte ", at, ", but found ", found);
    }
    at = text.size();
    return {};
  }
  void skipSpace() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' ||
                                text[at] == '\r' || text[at] == '\t'))
      ++at;
  }
  bool skip(char byte) {
    skipSpace();
    bool found = at < text.size() && text[at] == byte;
    at += found;
    return found;
  }

  Value readValue();
  Value readObject();
  Value readArray();
  Value readNumber();
  TextRef readText();
  bool readEscape(std::string &content);
  std::optional<uint32_t> readHex();

  std::string_view what, text;
  size_t at = 0;
  unsigned level = 0;
  Check error;
};
} // namespace

Value Reader::readValue() {
  skipSpace();
  std::string_view rest = text.substr(at);
  if (rest.empty())
    return refuse("a value");
  static const std::pair<std::string_view, Value> kWords[] = {
      {"null", None()}, {"true", true}, {"false", false}};
  for (const auto &[word, value] : kWords)
    if (rest.starts_with(word)) {
      at += word.size();
      return value;
    }
  if (rest[0] == '"')
    return readText();
  if (rest[0] != '{' && rest[0] != '[')
    return readNumber();
  if (++level > kMostDepth / 2)
    return refuse("at most 64 levels");
  Value value = rest[0] == '{' ? readObject() : readArray();
  --level;
  return value;
}

Value Reader::readObject() {
  auto mapping = std::make_shared<Mapping>();
  ++at;
  if (skip('}'))
    return std::shared_ptr<const Mapping>(std::move(mapping));
  do {
    skipSpace();
    if (at >= text.size() || text[at] != '"')
      return refuse("a key between quotes");
    TextRef key = readText();
    if (!skip(':'))
      return refuse("':'");
    mapping->set(Value(std::move(key)), readValue());
  } while (!error && skip(','));
  if (!skip('}'))
    return refuse("',' or '}'");
  return std::shared_ptr<const Mapping>(std::move(mapping));
}

Value Reader::readArray() {
  std::vector<Value> items;
  ++at;
  if (!skip(']')) {
    do
      items.push_back(readValue());
    while (!error && skip(','));
    if (!skip(']'))
      return refuse("',' or ']'");
  }
  return std::make_shared<const Sequence>(Form::List, std::move(items));
}

Value Reader::readNumber() {
  size_t end = at;
  auto digits = [&] {
    size_t first = end;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9')
      ++end;
    return end - first;
  };
  if (text[end] == '-')
    ++end;
  size_t first = end;
  size_t count = digits();
  if (count == 0 || (count > 1 && text[first] == '0'))
    return refuse("a value");
  bool isFloat = false;
  if (end < text.size() && text[end] == '.') {
    ++end;
    isFloat = true;
    if (digits() == 0)
      return refuse("digits after the point of a number");
  }
  if (end < text.size() && (text[end] | 32) == 'e') {
    ++end;
    isFloat = true;
    if (end < text.size() && (text[end] == '+' || text[end] == '-'))
      ++end;
    if (digits() == 0)
      return refuse("the exponent of a number");
  }
  const char *begin = text.data() + at, *last = text.data() + end;
  if (isFloat) {
    double number = 0;
    // Python takes what is too small for 0 and what is too large for infinity;
    // the latter is no JSON any more and refused here.
    auto [stop, code] = std::from_chars(begin, last, number);
    if (code != std::errc() &&
        text.substr(at, end - at).find("e-") == std::string_view::npos)
      return refuse("a number that a double holds");
    at = end;
    return number;
  }
  int64_t number = 0;
  auto [stop, code] = std::from_chars(begin, last, number);
  if (code != std::errc())
    return refuse("a whole number of 64 bits");
  at = end;
  return number;
}

std::optional<uint32_t> Reader::readHex() {
  uint32_t code = 0;
  if (at + 4 > text.size())
    return std::nullopt;
  auto [stop, problem] =
      std::from_chars(text.data() + at, text.data() + at + 4, code, 16);
  if (problem != std::errc() || stop != text.data() + at + 4)
    return std::nullopt;
  at += 4;
  return code;
}

bool Reader::readEscape(std::string &content) {
  static constexpr std::string_view kFrom = "\"\\/bfnrt",
                                    kTo = "\"\\/\b\f\n\r\t";
  char letter = at < text.size() ? text[at] : 0;
  if (size_t found = kFrom.find(letter);
      letter && found != std::string_view::npos) {
    content += kTo[found];
    ++at;
    return true;
  }
  if (letter != 'u')
    return false;
  ++at;
  std::optional<uint32_t> code = readHex();
  if (!code || (*code >= 0xDC00 && *code < 0xE000))
    return false;
  if (*code >= 0xD800 && *code < 0xDC00) {
    if (text.substr(at, 2) != "\\u")
      return false;
    at += 2;
    std::optional<uint32_t> second = readHex();
    if (!second || *second < 0xDC00 || *second >= 0xE000)
      return false;
    code = 0x10000 + ((*code - 0xD800) << 10) + (*second - 0xDC00);
  }
  unicode::append(*code, content);
  return true;
}

TextRef Reader::readText() {
  std::string content;
  ++at;
  while (at < text.size() && text[at] != '"') {
    auto byte = static_cast<uint8_t>(text[at]);
    if (byte < 0x20) {
      refuse("an escape for a control character");
      break;
    }
    if (byte == '\\') {
      ++at;
      if (!readEscape(content)) {
        refuse("an escape that JSON has, of a whole character");
        break;
      }
      continue;
    }
    Utf8Step step = nextCharacter(text.substr(at));
    if (step.kind != Utf8Step::Character) {
      refuse("valid UTF-8");
      break;
    }
    content.append(text, at, step.bytes);
    at += step.bytes;
  }
  if (at >= text.size())
    refuse("'\"'");
  else
    ++at;
  return std::make_shared<Text>(Text::given(std::move(content)));
}

Result<Value> jinja::readJson(std::string_view what, std::string_view text) {
  if (text.size() > kMostJsonBytes)
    return invalidArgument("expected '", what, "' of at most ", kMostJsonBytes,
                           " bytes, but found ", text.size());
  return Reader(what, text).run();
}
