// Which names are methods; those of lists, mappings and loops.

#include "runtime/src/chat/jinja/Methods.h"

#include "runtime/src/chat/jinja/Operators.h"

#include <algorithm>
#include <span>

using namespace effc::rt;
using namespace effc::rt::jinja;

// Python 3.11's, without those that the sandbox takes away.
static constexpr std::string_view kOfTexts[] = {
    "capitalize",   "casefold",     "center",    "count",     "encode",
    "endswith",     "expandtabs",   "find",      "format",    "format_map",
    "index",        "isalnum",      "isalpha",   "isascii",   "isdecimal",
    "isdigit",      "isidentifier", "islower",   "isnumeric", "isprintable",
    "isspace",      "istitle",      "isupper",   "join",      "ljust",
    "lower",        "lstrip",       "maketrans", "partition", "removeprefix",
    "removesuffix", "replace",      "rfind",     "rindex",    "rjust",
    "rpartition",   "rsplit",       "rstrip",    "split",     "splitlines",
    "startswith",   "strip",        "swapcase",  "title",     "translate",
    "upper",        "zfill"};
static constexpr std::string_view kOfLists[] = {"copy", "count", "index"};
static constexpr std::string_view kOfTuples[] = {"count", "index"};
static constexpr std::string_view kOfMappings[] = {
    "copy", "fromkeys", "get", "items", "keys", "values"};
static constexpr std::string_view kOfLoops[] = {"changed", "cycle"};
static constexpr std::string_view kForbiddenOfLists[] = {
    "append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"};
static constexpr std::string_view kForbiddenOfMappings[] = {
    "clear", "pop", "popitem", "setdefault", "update"};

static std::span<const std::string_view> methodsOf(const Value &object) {
  switch (object.kind()) {
  case Kind::Text:
    return kOfTexts;
  case Kind::Sequence:
    switch (object.sequence().form) {
    case Form::List:
      return kOfLists;
    case Form::Tuple:
    case Form::Range:
      return kOfTuples;
    default:
      return {};
    }
  case Kind::Mapping:
    return kOfMappings;
  case Kind::Loop:
    return kOfLoops;
  default:
    return {};
  }
}

static bool isAmong(std::span<const std::string_view> names,
                    std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool jinja::hasMethod(const Value &object, std::string_view name) {
  return isAmong(methodsOf(object), name);
}

bool jinja::isForbidden(const Value &object, std::string_view name) {
  if (name.starts_with("__"))
    return true;
  if (object.is(Kind::Mapping))
    return isAmong(kForbiddenOfMappings, name);
  return object.is(Kind::Sequence) && object.sequence().form == Form::List &&
         isAmong(kForbiddenOfLists, name);
}

static Value callMappingMethod(Machine &machine, const Value &object,
                               std::string_view name,
                               const Arguments &arguments) {
  const Mapping &mapping = object.mapping();
  if (name == "get") {
    // dict.get() takes its arguments by place alone.
    if (!arguments.named.empty())
      return machine.refuse("expected arguments of 'get' without names, but "
                            "found '",
                            arguments.named[0].first, "'");
    auto bound = arguments.bind(machine, name, {"key", "default"}, 1);
    if (machine.failed())
      return {};
    const Value *found = mapping.find(*bound[0]);
    return found ? *found : bound[1] ? *bound[1] : Value(None());
  }
  if (name == "copy") {
    arguments.bind(machine, name, {});
    return object;
  }
  std::vector<Value> items;
  if (name != "items" && name != "keys" && name != "values")
    return machine.unsupported("expected a method of mappings that is "
                               "understood, but found '",
                               name, "'");
  arguments.bind(machine, name, {});
  for (const Mapping::Entry &entry : mapping.entries())
    items.push_back(
        name == "keys" ? Value(entry.key)
        : name == "values"
            ? entry.value
            : machine.sequence(Form::Tuple, {entry.key, entry.value}));
  return machine.sequence(Form::View, std::move(items));
}

static Value callListMethod(Machine &machine, const Value &object,
                            std::string_view name, const Arguments &arguments) {
  if (name == "copy") {
    arguments.bind(machine, name, {});
    return object;
  }
  auto bound = arguments.bind(machine, name, {"value"}, 1);
  if (machine.failed())
    return {};
  int64_t count = 0;
  const std::vector<Value> &items = object.sequence().items;
  for (size_t i = 0; i < items.size(); ++i)
    if (areEqual(machine, items[i], *bound[0])) {
      if (name == "index")
        return static_cast<int64_t>(i);
      ++count;
    }
  if (name == "index")
    return machine.refuse("expected an element that is in the list, but found "
                          "one that is not");
  return count;
}

Value jinja::callMethod(Machine &machine, const Value &object,
                        std::string_view name, const Arguments &arguments) {
  if (object.isText())
    return callTextMethod(machine, object.text(), name, arguments);
  if (object.is(Kind::Mapping))
    return callMappingMethod(machine, object, name, arguments);
  if (object.is(Kind::Sequence))
    return callListMethod(machine, object, name, arguments);
  if (object.is(Kind::Loop) && name == "cycle") {
    if (arguments.positional.empty())
      return machine.refuse("expected values to take turns, but found none");
    return arguments
        .positional[object.loop()->index % arguments.positional.size()];
  }
  return machine.unsupported(
      "expected a method that is understood, but found '", name, "'");
}
