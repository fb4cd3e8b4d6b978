// str() and repr() as Python writes them.

#include "runtime/src/chat/jinja/Characters.h"
#include "runtime/src/chat/jinja/Literals.h"
#include "runtime/src/chat/jinja/Operators.h"
#include "runtime/src/tokenizer/unicode/Unicode.h"

#include <cstdio>

using namespace effc::rt;
using namespace effc::rt::jinja;

/// A text between quotes: double ones where it has single ones alone.
static void writeQuoted(Text &to, const Text &text) {
  const std::string &bytes = text.bytes();
  char quote = bytes.find('\'') != std::string::npos &&
                       bytes.find('"') == std::string::npos
                   ? '"'
                   : '\'';
  to.append(std::string_view(&quote, 1));
  size_t kept = 0; // up to here all has been written
  auto write = [&](size_t at, size_t size, std::string_view instead) {
    to.append(text, kept, at);
    to.appendFor(instead, text, at);
    kept = at + size;
  };
  for (size_t at = 0; at < bytes.size();) {
    unicode::Decoded next = unicode::decode(std::string_view(bytes).substr(at));
    char32_t character = next.character;
    char buffer[16];
    if (character == '\\' || character == static_cast<char32_t>(quote)) {
      const char escaped[2] = {'\\', bytes[at]};
      write(at, 1, {escaped, 2});
    } else if (character == '\n' || character == '\r' || character == '\t') {
      write(at, 1,
            character == '\n'   ? "\\n"
            : character == '\r' ? "\\r"
                                : "\\t");
    } else if (!isPrintable(character)) {
      const char *format = character < 0x100     ? "\\x%02x"
                           : character < 0x10000 ? "\\u%04x"
                                                 : "\\U%08x";
      int size = std::snprintf(buffer, sizeof(buffer), format,
                               static_cast<unsigned>(character));
      write(at, next.bytes, {buffer, static_cast<size_t>(size)});
    }
    at += next.bytes;
  }
  to.append(text, kept, bytes.size());
  to.append(std::string_view(&quote, 1));
}

static void write(Machine &machine, Text &to, const Value &value);

static void writeSequence(Machine &machine, Text &to, const Value &value) {
  const Sequence &sequence = value.sequence();
  if (sequence.form != Form::List && sequence.form != Form::Tuple) {
    machine.unsupported("expected a list to print, but found ",
                        value.description(), "; '|list' makes one");
    return;
  }
  bool isTuple = sequence.form == Form::Tuple;
  to.append(isTuple ? "(" : "[");
  for (size_t i = 0; i < sequence.items.size() && !machine.failed(); ++i) {
    if (i > 0)
      to.append(", ");
    write(machine, to, sequence.items[i]);
  }
  if (isTuple && sequence.items.size() == 1)
    to.append(",");
  to.append(isTuple ? ")" : "]");
}

/// As repr() has it.
static void write(Machine &machine, Text &to, const Value &value) {
  if (!machine.step())
    return;
  if (to.size() > kMostTextBytes) {
    machine.makes(to.size());
    return;
  }
  switch (value.kind()) {
  case Kind::Undefined:
    return to.append("Undefined");
  case Kind::None:
    return to.append("None");
  case Kind::Boolean:
    return to.append(value.boolean() ? "True" : "False");
  case Kind::Integer:
    return to.append(std::to_string(value.whole()));
  case Kind::Float:
    return to.append(floatText(value.number()));
  case Kind::Text:
    return writeQuoted(to, value.text());
  case Kind::Sequence:
    return writeSequence(machine, to, value);
  case Kind::Mapping: {
    to.append("{");
    const char *comma = "";
    for (const Mapping::Entry &entry : value.mapping().entries()) {
      to.append(comma);
      comma = ", ";
      write(machine, to, entry.key);
      to.append(": ");
      write(machine, to, entry.value);
    }
    return to.append("}");
  }
  default:
    machine.unsupported("expected a value to print, but found ",
                        value.description());
  }
}

Text jinja::toText(Machine &machine, const Value &value) {
  if (value.isText())
    return value.text();
  Text text;
  if (!value.isUndefined())
    write(machine, text, value);
  return text;
}
