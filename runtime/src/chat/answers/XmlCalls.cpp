#include "runtime/src/chat/answers/CallReader.h"
#include "runtime/src/chat/jinja/Json.h"
#include "runtime/src/grammar/JsonRules.h"

using namespace effc::rt;

static constexpr std::string_view kFunction = "<function=",
                                  kFunctionEnd = "</function>",
                                  kParameter = "<parameter=",
                                  kParameterEnd = "</parameter>";

namespace {
class XmlCalls : public CallReader {
public:
  XmlCalls(CallSink &sink, const ParameterTypes &types)
      : sink(sink), types(types) {}

  Step push(char byte) override {
    switch (place) {
    case Place::Start:
      return expect({kFunction}, byte, [&](size_t) { go(Place::Name); });
    case Place::Name:
      if (byte != '>') {
        text += byte;
        return byte == '<' || byte == '\n' ? Step::Refused : Step::More;
      }
      name = text;
      if (name.empty())
        return Step::Refused;
      sink.beginCall(name, "");
      count = 0;
      return go(Place::Between);
    case Place::Between: {
      bool isEnd = false;
      Step step = expect({kParameter, kFunctionEnd}, byte, [&](size_t which) {
        isEnd = which == 1;
        go(Place::Key);
      });
      if (!isEnd)
        return step;
      sink.addArguments(count == 0 ? "{}" : "}");
      return Step::Done;
    }
    case Place::Key:
      if (byte != '>') {
        text += byte;
        return Step::More;
      }
      key = text;
      return go(Place::Value);
    case Place::Value:
      text += byte;
      if (text.ends_with(kParameterEnd)) {
        text.resize(text.size() - kParameterEnd.size());
        endParameter();
        return go(Place::Between);
      }
      return Step::More;
    }
    return Step::Refused;
  }

private:
  enum class Place { Start, Name, Between, Key, Value };

  Step go(Place next) {
    place = next;
    text.clear();
    return Step::More;
  }

  /// White space, and one of `marks`.
  template <typename Body>
  Step expect(std::initializer_list<std::string_view> marks, char byte,
              Body found) {
    if (text.empty() && isBlank(byte))
      return Step::More;
    text += byte;
    size_t which = 0;
    for (std::string_view mark : marks) {
      if (mark == text) {
        found(which);
        return Step::More;
      }
      if (mark.starts_with(text))
        return Step::More;
      ++which;
    }
    return Step::Refused;
  }

  void endParameter() {
    // Values stand on lines of their own.
    if (text.starts_with('\n'))
      text.erase(0, 1);
    if (text.ends_with('\n'))
      text.pop_back();
    ParameterType type = types.of(name, key);
    bool isText = type == ParameterType::Text;
    // Templates show values as Python does, and models follow them.
    if (type == ParameterType::Other)
      for (auto [python, json] :
           {std::pair("True", "true"), {"False", "false"}, {"None", "null"}})
        if (text == python)
          text = json;
    bool isJson = false;
    if (!isText) {
      auto value = jinja::readJson("value", text);
      isJson = bool(value) && !value->isText();
    }
    sink.addArguments((count++ == 0 ? "{" : ", ") + grammar::quoted(key) +
                      ": " + (isJson ? text : grammar::quoted(text)));
  }

  CallSink &sink;
  const ParameterTypes &types;
  Place place = Place::Start;
  std::string text, name, key;
  size_t count = 0;
};
} // namespace

std::unique_ptr<CallReader>
effc::rt::createXmlCalls(CallSink &sink, const ParameterTypes &types) {
  return std::make_unique<XmlCalls>(sink, types);
}
