#include "runtime/src/chat/answers/CallReader.h"
#include "runtime/src/chat/jinja/Json.h"

#include <optional>

using namespace effc::rt;

namespace {
class JsonCalls : public CallReader {
public:
  JsonCalls(CallSink &sink, bool waits) : sink(sink), waits(waits) {}

  Step push(char byte) override {
    switch (place) {
    case Place::Start:
      return atStart(byte);
    case Place::Key:
      return atKey(byte);
    case Place::Colon:
      return isBlank(byte) ? Step::More
             : byte == ':' ? go(Place::Value)
                           : Step::Refused;
    case Place::Value:
      return atValue(byte);
    case Place::Behind:
      return behindValue(byte);
    case Place::Gap:
      if (byte == ']')
        return Step::Done;
      return isBlank(byte) ? Step::More
             : byte == ',' ? go(Place::Start)
                           : Step::Refused;
    }
    return Step::Refused;
  }

private:
  enum class Place { Start, Key, Colon, Value, Behind, Gap };

  Step go(Place next) {
    place = next;
    return Step::More;
  }

  Step atStart(char byte) {
    if (isBlank(byte))
      return Step::More;
    if (byte == '[' && !isList) {
      isList = true;
      return Step::More;
    }
    if (byte != '{')
      return Step::Refused;
    name.reset();
    id.clear();
    early.clear();
    isTold = hasArguments = false;
    raw.clear();
    return go(Place::Key);
  }

  /// Texts, as they stand.
  Step atKey(char byte) {
    if (raw.empty()) {
      if (isBlank(byte) || (byte == ',' && hasMember))
        return Step::More;
      if (byte == '}')
        return endObject();
      if (byte != '"')
        return Step::Refused;
    }
    raw += byte;
    if (!endsText(byte))
      return Step::More;
    std::optional<std::string> text = textOf(raw);
    raw.clear();
    if (!text)
      return Step::Refused;
    key = *text;
    return go(Place::Colon);
  }

  /// Whether `byte` closes the text that `raw` holds.
  bool endsText(char byte) {
    if (raw.size() == 1) {
      isEscaped = false;
      return false;
    }
    bool ends = byte == '"' && !isEscaped;
    isEscaped = byte == '\\' && !isEscaped;
    return ends;
  }

  static std::optional<std::string> textOf(const std::string &quoted) {
    auto value = jinja::readJson("text", quoted);
    if (!value || !value->isText())
      return std::nullopt;
    return value->text().bytes();
  }

  bool isArguments() const { return key == "arguments" || key == "parameters"; }

  Step atValue(char byte) {
    if (raw.empty() && isBlank(byte))
      return Step::More;
    if (raw.empty()) {
      depth = 0;
      isInText = false;
      kind = byte;
      if (isArguments() && byte != '{' && byte != '"')
        return Step::Refused;
      if (isArguments())
        hasArguments = true;
      if (isArguments() && name && !isTold)
        tell();
    }
    bool isText = kind == '"', isNested = kind == '{' || kind == '[';
    if (!isText && !isNested && (byte == ',' || byte == '}' || isBlank(byte))) {
      endValue();
      place = Place::Behind;
      return behindValue(byte);
    }
    raw += byte;
    if (isArguments() && isNested)
      add(std::string_view(&byte, 1));
    bool ends = false;
    if (isText) {
      ends = endsText(byte);
    } else if (isNested) {
      if (isInText) {
        isInText = isEscaped || byte != '"';
        isEscaped = byte == '\\' && !isEscaped;
      } else if (byte == '"') {
        isInText = true;
        isEscaped = false;
      } else if (byte == '{' || byte == '[') {
        ++depth;
      } else if (byte == '}' || byte == ']') {
        ends = --depth == 0;
      }
    }
    if (ends) {
      if (!endValue())
        return Step::Refused;
      place = Place::Behind;
    }
    return Step::More;
  }

  /// Tells of the call, and of arguments that came before its name.
  void tell() {
    sink.beginCall(*name, id);
    isTold = true;
    if (!early.empty())
      sink.addArguments(early);
    early.clear();
  }
  void add(std::string_view json) {
    if (isTold)
      sink.addArguments(json);
    else
      early += json;
  }

  bool endValue() {
    std::string whole = std::move(raw);
    raw.clear();
    hasMember = true;
    if (isArguments() && kind == '"') {
      // JSON within a text of JSON.
      std::optional<std::string> inner = textOf(whole);
      if (!inner)
        return false;
      add(*inner);
    }
    if (key != "name" && key != "id")
      return true;
    std::optional<std::string> text = textOf(whole);
    if (key == "id") {
      id = text.value_or("");
      return true;
    }
    if (!text || text->empty())
      return false;
    name = *text;
    if (!waits || hasArguments)
      tell();
    return true;
  }

  Step behindValue(char byte) {
    if (isBlank(byte))
      return Step::More;
    if (byte == ',')
      return go(Place::Key);
    if (byte == '}')
      return endObject();
    return Step::Refused;
  }

  Step endObject() {
    if (!name || (waits && !hasArguments))
      return Step::Refused;
    if (!isTold)
      tell();
    if (!hasArguments)
      sink.addArguments("{}");
    hasMember = false;
    if (!isList)
      return Step::Done;
    return go(Place::Gap);
  }

  CallSink &sink;
  bool waits, isList = false;
  Place place = Place::Start;
  std::string raw, key, id, early;
  std::optional<std::string> name;
  bool isTold = false, hasArguments = false, hasMember = false;
  bool isEscaped = false, isInText = false;
  char kind = 0;
  unsigned depth = 0;
};
} // namespace

std::unique_ptr<CallReader> effc::rt::createJsonCalls(CallSink &sink,
                                                      bool waits) {
  return std::make_unique<JsonCalls>(sink, waits);
}
