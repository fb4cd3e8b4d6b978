// str.format(): fields by place and by name, without widths and attributes.

#include "runtime/src/chat/jinja/Literals.h"
#include "runtime/src/chat/jinja/Methods.h"
#include "runtime/src/chat/jinja/Operators.h"

#include <charconv>

using namespace effc::rt;
using namespace effc::rt::jinja;

namespace {
class Formatter {
public:
  Formatter(Machine &machine, const Text &pattern, const Arguments &arguments)
      : machine(machine), pattern(pattern), arguments(arguments) {}
  Value run();

private:
  void writeField(std::string_view field);
  std::optional<Value> valueOf(std::string_view name);

  Machine &machine;
  const Text &pattern;
  const Arguments &arguments;
  Text text;
  size_t next = 0; // of fields without a name
};
} // namespace

std::optional<Value> Formatter::valueOf(std::string_view name) {
  size_t place = 0;
  if (name.empty()) {
    place = next++;
  } else {
    auto [end, code] =
        std::from_chars(name.data(), name.data() + name.size(), place);
    if (code != std::errc() || end != name.data() + name.size()) {
      for (const auto &[given, value] : arguments.named)
        if (given == name)
          return value;
      machine.refuse("expected a value for '{", name, "}', but found none");
      return std::nullopt;
    }
  }
  if (place < arguments.positional.size())
    return arguments.positional[place];
  machine.refuse("expected a value for the field number ", place,
                 ", but found ", arguments.positional.size(), " values");
  return std::nullopt;
}

void Formatter::writeField(std::string_view field) {
  size_t colon = field.find(':');
  std::string_view name = field.substr(0, colon);
  std::string_view format =
      colon == std::string_view::npos ? "" : field.substr(colon + 1);
  if (name.find_first_of(".[!") != std::string_view::npos ||
      format.find_first_of("{}") != std::string_view::npos) {
    machine.unsupported(
        "expected a field of 'format' without '.', '[' and '!', "
        "but found '{",
        field, "}'");
    return;
  }
  std::optional<Value> value = valueOf(name);
  if (!value)
    return;
  if (format.empty())
    return text.append(toText(machine, *value));
  // The one format that is understood: a number of digits after the point.
  int digits = 0;
  bool isFixed = format.size() > 2 && format[0] == '.' && format.back() == 'f';
  if (isFixed && value->isNumber() &&
      std::from_chars(format.data() + 1, format.data() + format.size() - 1,
                      digits)
              .ptr == format.data() + format.size() - 1 &&
      digits >= 0 && digits <= 30) {
    char buffer[400]; // 309 digits before the point, 30 after it
    auto end = std::to_chars(buffer, buffer + sizeof(buffer), value->number(),
                             std::chars_format::fixed, digits)
                   .ptr;
    return text.append(std::string_view(buffer, end));
  }
  machine.unsupported("expected a field of 'format' without a format or as "
                      "'{:.2f}', but found '{",
                      field, "}'");
}

Value Formatter::run() {
  const std::string &bytes = pattern.bytes();
  size_t kept = 0;
  for (size_t at = 0; at < bytes.size() && !machine.failed();) {
    if (bytes[at] != '{' && bytes[at] != '}') {
      ++at;
      continue;
    }
    text.append(pattern, kept, at);
    if (at + 1 < bytes.size() && bytes[at + 1] == bytes[at]) {
      text.append(pattern, at, at + 1);
      at += 2;
    } else {
      size_t end = bytes[at] == '{' ? bytes.find('}', at) : std::string::npos;
      if (end == std::string::npos)
        return machine.refuse("expected a pair of '{' and '}' in a text to "
                              "format, but found one of them");
      writeField(std::string_view(bytes).substr(at + 1, end - at - 1));
      at = end + 1;
    }
    kept = at;
    if (text.size() > kMostTextBytes || !machine.step())
      break;
  }
  if (!machine.failed())
    text.append(pattern, kept, bytes.size());
  return machine.text(std::move(text));
}

Value jinja::formatText(Machine &machine, const Text &text,
                        const Arguments &arguments) {
  return Formatter(machine, text, arguments).run();
}
