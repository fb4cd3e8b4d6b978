// Global functions: jinja2's and those that transformers adds.

#include "runtime/src/chat/jinja/Operators.h"
#include "runtime/src/chat/jinja/Renderer.h"

#include <algorithm>

using namespace effc::rt;
using namespace effc::rt::jinja;

/// As jinja2's sandbox allows.
static constexpr uint64_t kMostRange = 100000;

static Value range(Machine &machine, const Arguments &arguments) {
  auto bound = arguments.bind(machine, "range", {"start", "stop", "step"}, 1);
  if (machine.failed())
    return {};
  for (const auto &one : bound)
    if (one && !one->isWhole())
      return machine.refuse("expected whole numbers for 'range', but found ",
                            one->description());
  int64_t start = bound[1] ? bound[0]->whole() : 0;
  int64_t stop = bound[1] ? bound[1]->whole() : bound[0]->whole();
  int64_t step = bound[2] ? bound[2]->whole() : 1;
  if (step == 0)
    return machine.refuse(
        "expected a step of 'range' other than 0, but found 0");
  bool isThere = step > 0 ? start < stop : start > stop;
  uint64_t distance = step > 0 ? uint64_t(stop) - uint64_t(start)
                               : uint64_t(start) - uint64_t(stop);
  uint64_t width = step > 0 ? uint64_t(step) : uint64_t(0) - uint64_t(step);
  uint64_t count = isThere ? (distance - 1) / width + 1 : 0;
  if (count > kMostRange)
    return machine.refuse("expected a range of at most ", kMostRange,
                          " numbers, but found ", count);
  std::vector<Value> items;
  for (uint64_t i = 0; i < count; ++i)
    items.push_back(start + static_cast<int64_t>(i) * step);
  return machine.sequence(Form::Range, std::move(items));
}

/// What dict() and namespace() take: a mapping or pairs, and names.
static std::shared_ptr<Mapping>
entriesOf(Machine &machine, const Arguments &arguments, std::string_view what) {
  auto made = std::make_shared<Mapping>();
  if (arguments.positional.size() > 1)
    machine.refuse("expected at most one argument of '", what,
                   "' without a name, but found ", arguments.positional.size());
  if (machine.failed())
    return made;
  if (!arguments.positional.empty()) {
    const Value &from = arguments.positional[0];
    if (from.is(Kind::Mapping)) {
      for (const Mapping::Entry &entry : from.mapping().entries())
        made->set(entry.key, entry.value);
    } else {
      for (const Value &pair : iterate(machine, from)) {
        std::vector<Value> both = iterate(machine, pair);
        if (both.size() != 2 || !both[0].isText()) {
          machine.refuse("expected pairs of a text and a value for '", what,
                         "', but found ", pair.description());
          return made;
        }
        made->set(both[0], both[1]);
      }
    }
  }
  for (const auto &[name, value] : arguments.named)
    made->set(name, value);
  return made;
}

static Value makeMapping(Machine &machine, const Arguments &arguments) {
  return machine.mapping(entriesOf(machine, arguments, "dict"));
}

static Value makeNamespace(Machine &machine, const Arguments &arguments) {
  auto entries = entriesOf(machine, arguments, "namespace");
  Namespace *space = machine.makeNamespace();
  for (const Mapping::Entry &entry : entries->entries()) {
    if (!entry.key.isText())
      return machine.refuse("expected names for the attributes of a namespace, "
                            "but found a whole number");
    const std::string &name = entry.key.text().bytes();
    if (name.starts_with('_'))
      return machine.refuse("expected the name of an attribute that does not "
                            "start with '_', but found '",
                            name, "'");
    space->attributes[name] = entry.value;
  }
  return space;
}

static Value raise(Machine &machine, const Arguments &arguments) {
  auto bound = arguments.bind(machine, "raise_exception", {"message"}, 1);
  if (machine.failed())
    return {};
  return machine.refuse("the template refuses the conversation: ",
                        toText(machine, *bound[0]).bytes());
}

static Value showTime(Machine &machine, const Arguments &arguments) {
  auto bound = arguments.bind(machine, "strftime_now", {"format"}, 1);
  if (machine.failed())
    return {};
  if (!bound[0]->isText())
    return machine.refuse("expected a text for 'strftime_now', but found ",
                          bound[0]->description());
  machine.reads(bound[0]->text().size() * 16);
  Result<std::string> text = machine.now.format(bound[0]->text().bytes());
  if (!text)
    return machine.unsupported(text.error().message);
  return machine.text(std::move(*text));
}

static const std::map<std::string_view, Value (*)(Machine &, const Arguments &)>
    kFunctions = {{"dict", makeMapping},
                  {"namespace", makeNamespace},
                  {"raise_exception", raise},
                  {"range", range},
                  {"strftime_now", showTime}};

bool jinja::isFunction(std::string_view name) {
  return kFunctions.count(name) || name == "cycler" || name == "joiner" ||
         name == "lipsum";
}

Value jinja::callFunction(Machine &machine, std::string_view name,
                          const Arguments &arguments) {
  auto found = kFunctions.find(name);
  if (found == kFunctions.end())
    return machine.unsupported("expected a function that is understood, but "
                               "found '",
                               name, "'");
  return found->second(machine, arguments);
}
