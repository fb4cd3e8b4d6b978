// Attributes, items, slices, and what loops see of a value.

#include "runtime/src/chat/jinja/Characters.h"
#include "runtime/src/chat/jinja/Methods.h"
#include "runtime/src/chat/jinja/Operators.h"
#include "runtime/src/tokenizer/unicode/Unicode.h"

#include <algorithm>

using namespace effc::rt;
using namespace effc::rt::jinja;

static Value missingIn(const Value &object, const std::string &name) {
  return Value::undefined("'" + name + "' of " + object.description());
}

static Value loopAttribute(const Value &value, const std::string &name) {
  const Loop &loop = *value.loop();
  const std::vector<Value> &items = loop.items->items;
  auto number = [](size_t count) { return static_cast<int64_t>(count); };
  if (name == "index")
    return number(loop.index + 1);
  if (name == "index0")
    return number(loop.index);
  if (name == "revindex")
    return number(items.size() - loop.index);
  if (name == "revindex0")
    return number(items.size() - loop.index - 1);
  if (name == "first")
    return loop.index == 0;
  if (name == "last")
    return loop.index + 1 == items.size();
  if (name == "length")
    return number(items.size());
  if (name == "depth")
    return number(loop.nesting + 1);
  if (name == "depth0")
    return number(loop.nesting);
  if (name == "previtem")
    return loop.index == 0 ? Value::undefined("the item before the first")
                           : items[loop.index - 1];
  if (name == "nextitem")
    return loop.index + 1 == items.size()
               ? Value::undefined("the item after the last")
               : items[loop.index + 1];
  return missingIn(value, name);
}

/// What Python's object has by that name: a method, or an attribute of a loop or a
/// namespace.
static Value ownAttribute(const Value &object, const std::string &name) {
  if (object.is(Kind::Loop) && name != "cycle" && name != "changed")
    return loopAttribute(object, name);
  if (object.is(Kind::Namespace)) {
    auto found = object.space().attributes.find(name);
    return found == object.space().attributes.end() ? missingIn(object, name)
                                                    : found->second;
  }
  if (!hasMethod(object, name))
    return missingIn(object, name);
  auto method = std::make_shared<Callable>();
  method->name = name;
  method->receiver = object;
  return std::shared_ptr<const Callable>(std::move(method));
}

Value jinja::attribute(Machine &machine, const Value &object,
                       const std::string &name) {
  machine.step();
  if (object.isUndefined())
    return machine.refuse("expected a value that has '", name, "', but ",
                          object.missing(), " is undefined");
  Value found = ownAttribute(object, name);
  if (!found.isUndefined() || !object.is(Kind::Mapping) ||
      isForbidden(object, name))
    return found;
  const Value *entry = object.mapping().find(name);
  return entry ? *entry : found;
}

/// The place of a Python index among `size` elements, counted from the end where
/// it is negative.
static std::optional<size_t> placeOf(int64_t index, size_t size) {
  auto count = static_cast<int64_t>(size);
  if (index < -count || index >= count)
    return std::nullopt;
  return static_cast<size_t>(index < 0 ? index + count : index);
}

static Value characterAt(Machine &machine, const Text &text, size_t place) {
  size_t begin = offsetOf(text.bytes(), place);
  machine.reads(begin);
  size_t bytes =
      unicode::decode(std::string_view(text.bytes()).substr(begin)).bytes;
  return machine.text(text.slice(begin, begin + bytes));
}

Value jinja::item(Machine &machine, const Value &object, const Value &key) {
  machine.step();
  std::string shown = key.isText()    ? key.text().bytes()
                      : key.isWhole() ? std::to_string(key.whole())
                                      : key.description();
  if (object.isUndefined())
    return machine.refuse("expected a value that has '", shown, "', but ",
                          object.missing(), " is undefined");
  if (object.is(Kind::Mapping)) {
    if (const Value *entry = object.mapping().find(key))
      return *entry;
  } else if (key.isWhole()) {
    if (object.isText()) {
      const Text &text = object.text();
      if (auto place = placeOf(key.whole(), countCharacters(text.bytes())))
        return characterAt(machine, text, *place);
    } else if (object.is(Kind::Sequence) &&
               object.sequence().form != Form::View &&
               object.sequence().form != Form::Generator) {
      const std::vector<Value> &items = object.sequence().items;
      if (auto place = placeOf(key.whole(), items.size()))
        return items[*place];
    }
  }
  if (key.isText())
    return ownAttribute(object, shown);
  return missingIn(object, shown);
}

namespace {
/// Python's slice: `count` elements from `start` on, `step` apart.
struct Steps {
  int64_t start, step;
  size_t count;
};
} // namespace

static std::optional<Steps> stepsOf(Machine &machine, size_t size,
                                    const Value &from, const Value &to,
                                    const Value &step) {
  for (const Value *part : {&from, &to, &step})
    if (!part->isWhole() && !part->is(Kind::None)) {
      machine.refuse("expected whole numbers in a slice, but found ",
                     part->description());
      return std::nullopt;
    }
  int64_t stride = step.is(Kind::None) ? 1 : step.whole();
  if (stride == 0) {
    machine.refuse("expected a slice's step other than 0, but found 0");
    return std::nullopt;
  }
  auto count = static_cast<int64_t>(size);
  int64_t low = stride < 0 ? -1 : 0, high = stride < 0 ? count - 1 : count;
  auto bound = [&](const Value &part, int64_t otherwise) {
    if (part.is(Kind::None))
      return otherwise;
    int64_t index = part.whole();
    // Far out is as good as just outside, and adding to it cannot overflow.
    index = std::clamp(index, -count - 1, count);
    return std::clamp(index < 0 ? index + count : index, low, high);
  };
  int64_t first = bound(from, stride < 0 ? high : low);
  int64_t last = bound(to, stride < 0 ? low : high);
  uint64_t distance = stride > 0 ? (last > first ? uint64_t(last - first) : 0)
                                 : (first > last ? uint64_t(first - last) : 0);
  uint64_t width =
      stride > 0 ? uint64_t(stride) : uint64_t(0) - uint64_t(stride);
  return Steps{first, stride,
               distance == 0 ? 0 : size_t((distance - 1) / width + 1)};
}

Value jinja::slice(Machine &machine, const Value &object, const Value &from,
                   const Value &to, const Value &step) {
  bool isList = object.is(Kind::Sequence) &&
                object.sequence().form != Form::View &&
                object.sequence().form != Form::Generator;
  if (object.isUndefined())
    return machine.refuse("expected a text or a list to cut, but ",
                          object.missing(), " is undefined");
  if (!isList && !object.isText())
    return missingIn(object, "a part");
  if (isList) {
    const Sequence &all = object.sequence();
    std::optional<Steps> steps =
        stepsOf(machine, all.items.size(), from, to, step);
    std::vector<Value> items;
    for (size_t i = 0; steps && i < steps->count; ++i)
      items.push_back(all.items[static_cast<size_t>(steps->start +
                                                    int64_t(i) * steps->step)]);
    return machine.sequence(all.form, std::move(items));
  }
  const Text &text = object.text();
  std::string_view bytes = text.bytes();
  machine.reads(bytes.size());
  std::optional<Steps> steps =
      stepsOf(machine, countCharacters(bytes), from, to, step);
  if (!steps || steps->count == 0)
    return machine.text(std::string());
  if (steps->step == 1) {
    size_t begin = offsetOf(bytes, static_cast<size_t>(steps->start));
    size_t size = offsetOf(bytes.substr(begin), steps->count);
    return machine.text(text.slice(begin, begin + size));
  }
  std::vector<size_t> starts;
  if (!machine.step(bytes.size() / 32))
    return {};
  for (size_t at = 0; at < bytes.size();
       at += unicode::decode(bytes.substr(at)).bytes)
    starts.push_back(at);
  starts.push_back(bytes.size());
  Text cut;
  cut.isSafe = text.isSafe;
  for (size_t i = 0; i < steps->count; ++i) {
    auto place = static_cast<size_t>(steps->start + int64_t(i) * steps->step);
    cut.append(text, starts[place], starts[place + 1]);
  }
  return machine.text(std::move(cut));
}

std::vector<Value> jinja::iterate(Machine &machine, const Value &value) {
  std::vector<Value> items;
  switch (value.kind()) {
  case Kind::Undefined:
    return items;
  case Kind::Text: {
    const Text &text = value.text();
    for (size_t at = 0; at < text.size() && machine.step();) {
      size_t bytes =
          unicode::decode(std::string_view(text.bytes()).substr(at)).bytes;
      items.push_back(machine.text(text.slice(at, at + bytes)));
      at += bytes;
    }
    return items;
  }
  case Kind::Sequence: {
    const Sequence &from = value.sequence();
    machine.step(from.items.size() / 4);
    items.assign(from.items.begin() + ptrdiff_t(from.taken), from.items.end());
    if (from.form == Form::Generator)
      from.taken = from.items.size();
    return items;
  }
  case Kind::Mapping:
    machine.step(value.mapping().size() / 4);
    for (const Mapping::Entry &entry : value.mapping().entries())
      items.push_back(entry.key);
    return items;
  default:
    machine.refuse("expected a text, a list or a mapping to go through, but "
                   "found ",
                   value.description());
    return items;
  }
}

std::optional<size_t> jinja::length(Machine &machine, const Value &value) {
  switch (value.kind()) {
  case Kind::Undefined:
    return 0;
  case Kind::Text:
    machine.reads(value.text().size());
    return countCharacters(value.text().bytes());
  case Kind::Sequence:
    if (value.sequence().form != Form::Generator)
      return value.sequence().items.size();
    break;
  case Kind::Mapping:
    return value.mapping().size();
  case Kind::Loop:
    return value.loop()->items->items.size();
  default:
    break;
  }
  machine.refuse("expected a text, a list or a mapping that has a length, but "
                 "found ",
                 value.description());
  return std::nullopt;
}
