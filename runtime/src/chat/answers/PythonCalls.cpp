#include "runtime/src/chat/answers/CallReader.h"
#include "runtime/src/chat/jinja/Json.h"
#include "runtime/src/grammar/JsonRules.h"
#include "runtime/src/grammar/Rules.h"

#include <optional>

using namespace effc::rt;

namespace {
/// A literal of Python as JSON.
class Literal {
public:
  explicit Literal(std::string_view text) : text(text) {}

  std::optional<std::string> run() {
    std::string json;
    if (!read(json, 0))
      return std::nullopt;
    skip();
    if (at != text.size())
      return std::nullopt;
    return json;
  }

private:
  void skip() {
    while (at < text.size() && isBlank(text[at]))
      ++at;
  }
  bool is(char byte) {
    skip();
    return at < text.size() && text[at] == byte;
  }

  bool read(std::string &json, unsigned depth) {
    skip();
    if (at >= text.size() || depth > 32)
      return false;
    char first = text[at];
    if (first == '"' || first == '\'')
      return readText(json);
    if (first == '[' || first == '(')
      return readList(json, first == '[' ? ']' : ')', depth);
    if (first == '{')
      return readMapping(json, depth);
    size_t begin = at;
    while (at < text.size() && !isBlank(text[at]) && text[at] != ',' &&
           text[at] != ']' && text[at] != '}' && text[at] != ')' &&
           text[at] != ':')
      ++at;
    std::string_view word = text.substr(begin, at - begin);
    if (word == "True" || word == "False" || word == "None") {
      json += word == "True" ? "true" : word == "False" ? "false" : "null";
      return true;
    }
    auto value = jinja::readJson("value", word);
    json += word;
    return bool(value);
  }

  bool readText(std::string &json) {
    char quote = text[at++];
    std::string content;
    while (at < text.size() && text[at] != quote) {
      char c = text[at++];
      if (c != '\\' || at >= text.size()) {
        content += c;
        continue;
      }
      char kind = text[at++];
      switch (kind) {
      case 'n':
        content += '\n';
        break;
      case 't':
        content += '\t';
        break;
      case 'r':
        content += '\r';
        break;
      case 'x':
      case 'u': {
        uint32_t code = 0;
        for (int i = 0; i < (kind == 'x' ? 2 : 4) && at < text.size(); ++i) {
          char digit = text[at++];
          if (digit >= '0' && digit <= '9')
            code = code * 16 + static_cast<uint32_t>(digit - '0');
          else if ((digit | 32) >= 'a' && (digit | 32) <= 'f')
            code = code * 16 + static_cast<uint32_t>((digit | 32) - 'a') + 10;
          else
            return false;
        }
        if (code >= 0xD800 && code <= 0xDFFF)
          return false;
        grammar::appendCharacter(content, code);
        break;
      }
      case '\\':
      case '\'':
      case '"':
        content += kind;
        break;
      default:
        content += '\\';
        content += kind;
      }
    }
    if (at >= text.size())
      return false;
    ++at;
    json += grammar::quoted(content);
    return true;
  }

  bool readList(std::string &json, char close, unsigned depth) {
    ++at;
    json += '[';
    for (bool isFirst = true; !is(close); isFirst = false) {
      if (!isFirst && !is(','))
        return false;
      if (!isFirst) {
        ++at;
        if (is(close))
          break;
        json += ", ";
      }
      if (!read(json, depth + 1))
        return false;
    }
    ++at;
    json += ']';
    return true;
  }

  bool readMapping(std::string &json, unsigned depth) {
    ++at;
    json += '{';
    for (bool isFirst = true; !is('}'); isFirst = false) {
      if (!isFirst && !is(','))
        return false;
      if (!isFirst) {
        ++at;
        if (is('}'))
          break;
        json += ", ";
      }
      skip();
      if (at >= text.size() || (text[at] != '"' && text[at] != '\'') ||
          !readText(json) || !is(':'))
        return false;
      ++at;
      json += ": ";
      if (!read(json, depth + 1))
        return false;
    }
    ++at;
    json += '}';
    return true;
  }

  std::string_view text;
  size_t at = 0;
};

bool isNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

class PythonCalls : public CallReader {
public:
  explicit PythonCalls(CallSink &sink) : sink(sink) {}

  Step push(char byte) override {
    switch (place) {
    case Place::Start:
      if (isBlank(byte))
        return Step::More;
      return byte == '[' ? go(Place::Name) : Step::Refused;
    case Place::Name:
      if (text.empty() && isBlank(byte))
        return Step::More;
      if (isNameByte(byte)) {
        text += byte;
        return Step::More;
      }
      if (byte != '(' || text.empty())
        return Step::Refused;
      sink.beginCall(text, "");
      count = 0;
      return go(Place::Key);
    case Place::Key:
      if (text.empty() && (isBlank(byte) || (byte == ',' && count > 0)))
        return Step::More;
      if (text.empty() && byte == ')')
        return endCall();
      if (byte == '=') {
        while (!text.empty() && isBlank(text.back()))
          text.pop_back();
        key = text;
        depth = 0;
        quote = 0;
        return go(Place::Value);
      }
      text += byte;
      return isNameByte(byte) || isBlank(byte) ? Step::More : Step::Refused;
    case Place::Value:
      return atValue(byte);
    case Place::Gap:
      if (isBlank(byte))
        return Step::More;
      if (byte == ']')
        return Step::Done;
      return byte == ',' ? go(Place::Name) : Step::Refused;
    }
    return Step::Refused;
  }

private:
  enum class Place { Start, Name, Key, Value, Gap };

  Step go(Place next) {
    place = next;
    text.clear();
    return Step::More;
  }

  Step atValue(char byte) {
    if (quote) {
      bool closes = byte == quote && !isEscaped;
      isEscaped = byte == '\\' && !isEscaped;
      if (closes)
        quote = 0;
    } else if (byte == '"' || byte == '\'') {
      quote = byte;
      isEscaped = false;
    } else if (byte == '[' || byte == '{' || byte == '(') {
      ++depth;
    } else if (depth > 0 && (byte == ']' || byte == '}' || byte == ')')) {
      --depth;
    } else if (depth == 0 && (byte == ',' || byte == ')')) {
      std::optional<std::string> json = Literal(text).run();
      if (!json)
        return Step::Refused;
      sink.addArguments((count++ == 0 ? "{" : ", ") + grammar::quoted(key) +
                        ": " + *json);
      if (byte == ')')
        return endCall();
      return go(Place::Key);
    }
    text += byte;
    return Step::More;
  }

  Step endCall() {
    sink.addArguments(count == 0 ? "{}" : "}");
    return go(Place::Gap);
  }

  CallSink &sink;
  Place place = Place::Start;
  std::string text, key;
  size_t count = 0;
  unsigned depth = 0;
  char quote = 0;
  bool isEscaped = false;
};
} // namespace

std::unique_ptr<CallReader> effc::rt::createPythonCalls(CallSink &sink) {
  return std::make_unique<PythonCalls>(sink);
}
