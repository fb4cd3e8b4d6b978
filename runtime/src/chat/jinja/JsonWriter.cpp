#include "runtime/src/chat/jinja/Json.h"
#include "runtime/src/chat/jinja/Literals.h"
#include "runtime/src/chat/jinja/Operators.h"
#include "runtime/src/tokenizer/unicode/Unicode.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace effc::rt;
using namespace effc::rt::jinja;

namespace {
class Writer {
public:
  Writer(Machine &machine, const JsonStyle &style)
      : machine(machine), style(style) {}
  void write(const Value &value);
  Text take() { return std::move(text); }

private:
  void writeText(const Text &content);
  void writeAscii(const Text &content, size_t at, char32_t character);
  void writeNumber(double number);
  /// What stands between elements, and before the first and after the last.
  void breakLine(bool afterItem);

  Machine &machine;
  const JsonStyle &style;
  Text text;
  size_t level = 0;
};
} // namespace

void Writer::breakLine(bool afterItem) {
  if (afterItem)
    text.append(style.itemSeparator);
  if (!style.indent)
    return;
  text.append("\n");
  for (size_t i = 0; i < level; ++i)
    text.append(*style.indent);
}

void Writer::writeAscii(const Text &content, size_t at, char32_t character) {
  char buffer[16];
  int size;
  if (character < 0x10000)
    size = std::snprintf(buffer, sizeof(buffer), "\\u%04x",
                         static_cast<unsigned>(character));
  else
    size = std::snprintf(
        buffer, sizeof(buffer), "\\u%04x\\u%04x",
        static_cast<unsigned>(0xD800 + ((character - 0x10000) >> 10)),
        static_cast<unsigned>(0xDC00 + (character & 0x3FF)));
  text.appendFor({buffer, static_cast<size_t>(size)}, content, at);
}

void Writer::writeText(const Text &content) {
  static constexpr std::string_view kFrom = "\"\\\n\r\t\b\f", kTo = "\"\\nrtbf";
  const std::string &bytes = content.bytes();
  text.append("\"");
  size_t kept = 0; // up to here all has been written
  for (size_t at = 0; at < bytes.size();) {
    auto byte = static_cast<uint8_t>(bytes[at]);
    size_t size = 1;
    size_t escape = kFrom.find(bytes[at]);
    bool isPlain = byte >= 0x20 && escape == std::string_view::npos &&
                   (!style.asciiOnly || byte < 0x80);
    if (!isPlain) {
      text.append(content, kept, at);
      if (escape != std::string_view::npos) {
        const char escaped[2] = {'\\', kTo[escape]};
        text.appendFor({escaped, 2}, content, at);
      } else {
        unicode::Decoded next =
            unicode::decode(std::string_view(bytes).substr(at));
        size = next.bytes;
        writeAscii(content, at, next.character);
      }
      kept = at + size;
    }
    at += size;
  }
  text.append(content, kept, bytes.size());
  text.append("\"");
}

void Writer::writeNumber(double number) {
  text.append(std::isnan(number)   ? "NaN"
              : std::isinf(number) ? (number < 0 ? "-Infinity" : "Infinity")
                                   : floatText(number));
}

/// False where there are texts and numbers, which have no order.
static bool sortByKey(std::vector<const Mapping::Entry *> &entries) {
  for (const Mapping::Entry *entry : entries)
    if (entry->key.isText() != entries[0]->key.isText())
      return false;
  std::sort(entries.begin(), entries.end(), [](auto *one, auto *other) {
    return one->key.isText()
               ? one->key.text().bytes() < other->key.text().bytes()
               : one->key.whole() < other->key.whole();
  });
  return true;
}

void Writer::write(const Value &value) {
  if (!machine.step())
    return;
  if (text.size() > kMostTextBytes) {
    machine.makes(text.size());
    return;
  }
  bool isList =
      value.is(Kind::Sequence) && (value.sequence().form == Form::List ||
                                   value.sequence().form == Form::Tuple);
  if (isList) {
    const std::vector<Value> &items = value.sequence().items;
    text.append("[");
    ++level;
    for (size_t i = 0; i < items.size() && !machine.failed(); ++i) {
      breakLine(i > 0);
      write(items[i]);
    }
    --level;
    if (!items.empty())
      breakLine(false);
    return text.append("]");
  }
  switch (value.kind()) {
  case Kind::None:
    return text.append("null");
  case Kind::Boolean:
    return text.append(value.boolean() ? "true" : "false");
  case Kind::Integer:
    return text.append(std::to_string(value.whole()));
  case Kind::Float:
    return writeNumber(value.number());
  case Kind::Text:
    return writeText(value.text());
  case Kind::Mapping: {
    std::vector<const Mapping::Entry *> entries;
    for (const Mapping::Entry &entry : value.mapping().entries())
      entries.push_back(&entry);
    if (style.sortKeys)
      if (!sortByKey(entries)) {
        machine.refuse("expected keys of one kind to sort, but found texts and "
                       "numbers");
        return;
      }
    text.append("{");
    ++level;
    for (size_t i = 0; i < entries.size() && !machine.failed(); ++i) {
      breakLine(i > 0);
      writeText(toText(machine, entries[i]->key));
      text.append(style.keySeparator);
      write(entries[i]->value);
    }
    --level;
    if (!entries.empty())
      breakLine(false);
    return text.append("}");
  }
  default:
    machine.refuse("expected a value that JSON has, but found ",
                   value.description());
  }
}

Value jinja::writeJson(Machine &machine, const Value &value,
                       const JsonStyle &style) {
  Writer writer(machine, style);
  writer.write(value);
  return machine.text(writer.take());
}
