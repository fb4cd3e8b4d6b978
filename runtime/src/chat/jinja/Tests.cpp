#include "runtime/src/chat/jinja/Tests.h"

#include "runtime/src/chat/jinja/Filters.h"
#include "runtime/src/chat/jinja/Methods.h"
#include "runtime/src/chat/jinja/Operators.h"

#include <map>

using namespace effc::rt;
using namespace effc::rt::jinja;

namespace {
/// Tests without an argument look at the value alone.
using Look = bool (*)(const Value &value);
} // namespace

static bool isIndexed(const Value &value) {
  switch (value.kind()) {
  case Kind::Undefined:
  case Kind::Text:
  case Kind::Mapping:
    return true;
  case Kind::Sequence:
    return value.sequence().form != Form::View &&
           value.sequence().form != Form::Generator;
  default:
    return false;
  }
}

static bool isSame(Machine &machine, const Value &value, const Value &other) {
  if (value.kind() == other.kind() &&
      (value.is(Kind::None) || value.is(Kind::Boolean)))
    return !value.is(Kind::Boolean) || value.boolean() == other.boolean();
  if (value.is(Kind::None) || other.is(Kind::None) || value.is(Kind::Boolean) ||
      other.is(Kind::Boolean))
    return false;
  machine.unsupported("expected 'sameas' of none, true or false, but found ",
                      value.description(), " and ", other.description());
  return false;
}

static const std::map<std::string_view, Look> kLooks = {
    {"boolean", [](const Value &value) { return value.is(Kind::Boolean); }},
    {"callable", [](const Value &value) { return value.is(Kind::Callable); }},
    {"defined", [](const Value &value) { return !value.isUndefined(); }},
    {"false",
     [](const Value &value) {
       return value.is(Kind::Boolean) && !value.boolean();
     }},
    {"float", [](const Value &value) { return value.is(Kind::Float); }},
    {"integer", [](const Value &value) { return value.is(Kind::Integer); }},
    {"iterable",
     [](const Value &value) {
       return value.isUndefined() || value.isText() ||
              value.is(Kind::Sequence) || value.is(Kind::Mapping) ||
              value.is(Kind::Loop);
     }},
    {"mapping", [](const Value &value) { return value.is(Kind::Mapping); }},
    {"none", [](const Value &value) { return value.is(Kind::None); }},
    {"number", [](const Value &value) { return value.isNumber(); }},
    {"sequence", isIndexed},
    {"string", [](const Value &value) { return value.isText(); }},
    {"true",
     [](const Value &value) {
       return value.is(Kind::Boolean) && value.boolean();
     }},
    {"undefined", [](const Value &value) { return value.isUndefined(); }}};

static const std::map<std::string_view, Operator> kComparisons = {
    {"!=", Operator::NotEqual},     {"<", Operator::Less},
    {"<=", Operator::LessEqual},    {"==", Operator::Equal},
    {">", Operator::Greater},       {">=", Operator::GreaterEqual},
    {"eq", Operator::Equal},        {"equalto", Operator::Equal},
    {"ge", Operator::GreaterEqual}, {"greaterthan", Operator::Greater},
    {"gt", Operator::Greater},      {"in", Operator::In},
    {"le", Operator::LessEqual},    {"lessthan", Operator::Less},
    {"lt", Operator::Less},         {"ne", Operator::NotEqual}};

/// value % other == rest.
static bool leaves(Machine &machine, const Value &value, int64_t divisor,
                   int64_t rest) {
  return areEqual(machine,
                  calculate(machine, Operator::Remainder, value, divisor),
                  Value(rest));
}

bool jinja::isTest(std::string_view name) {
  return kLooks.count(name) || kComparisons.count(name) ||
         name == "divisibleby" || name == "even" || name == "lower" ||
         name == "odd" || name == "sameas" || name == "upper" ||
         name == "filter" || name == "test";
}

bool jinja::applyTest(Machine &machine, std::string_view name,
                      const Value &value, const Arguments &arguments) {
  if (!machine.step())
    return false;
  if (auto look = kLooks.find(name); look != kLooks.end()) {
    arguments.bind(machine, name, {});
    return look->second(value);
  }
  auto comparison = kComparisons.find(name);
  bool takesOther = comparison != kComparisons.end() || name == "divisibleby" ||
                    name == "sameas";
  if (takesOther) {
    auto bound = arguments.bind(machine, name, {"other"}, 1);
    if (machine.failed())
      return false;
    if (comparison != kComparisons.end())
      return compare(machine, comparison->second, value, *bound[0]);
    if (name == "sameas")
      return isSame(machine, value, *bound[0]);
    return areEqual(machine,
                    calculate(machine, Operator::Remainder, value, *bound[0]),
                    Value(int64_t(0)));
  }
  if (name == "even" || name == "odd")
    return leaves(machine, value, 2, name == "odd" ? 1 : 0);
  if (name == "lower" || name == "upper")
    return isTrue(callTextMethod(machine, toText(machine, value),
                                 name == "lower" ? "islower" : "isupper", {}));
  if ((name == "filter" || name == "test") && value.isText())
    return name == "filter" ? isFilter(value.text().bytes())
                            : isTest(value.text().bytes());
  machine.unsupported("expected a test that is understood, but found '", name,
                      "'");
  return false;
}
