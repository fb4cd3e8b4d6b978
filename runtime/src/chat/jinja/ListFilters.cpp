// Filters that go through many values.

#include "runtime/src/chat/jinja/Characters.h"
#include "runtime/src/chat/jinja/Filters.h"
#include "runtime/src/chat/jinja/Operators.h"
#include "runtime/src/chat/jinja/Tests.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

using namespace effc::rt;
using namespace effc::rt::jinja;

Value jinja::attributeByPath(Machine &machine, const Value &value,
                             const Value &path) {
  if (!path.isText())
    return item(machine, value, path);
  Value found = value;
  std::string_view rest = path.text().bytes();
  while (!machine.failed()) {
    size_t dot = rest.find('.');
    std::string part(rest.substr(0, dot));
    int64_t place = 0;
    auto [end, code] =
        std::from_chars(part.data(), part.data() + part.size(), place);
    bool isPlace = code == std::errc() && end == part.data() + part.size();
    found = item(machine, found,
                 isPlace ? Value(place) : machine.text(std::move(part)));
    if (dot == std::string_view::npos)
      break;
    rest.remove_prefix(dot + 1);
  }
  return found;
}

/// The arguments that follow the first `skipped`.
static Arguments rest(const Arguments &arguments, size_t skipped) {
  Arguments others = arguments;
  others.positional.erase(
      others.positional.begin(),
      others.positional.begin() +
          ptrdiff_t(std::min(skipped, others.positional.size())));
  return others;
}

static Value map(Machine &machine, const Value &value,
                 const Arguments &arguments) {
  std::vector<Value> mapped;
  // jinja2 looks at a value that is false no further, be it none.
  if (!isTrue(value))
    return machine.sequence(Form::Generator, {});
  if (arguments.positional.empty()) {
    auto bound = arguments.bind(machine, "map", {"attribute", "default"});
    if (!bound[0])
      return machine.refuse("expected a filter or an attribute for 'map', but "
                            "found none");
    for (const Value &one : iterate(machine, value)) {
      Value found = attributeByPath(machine, one, *bound[0]);
      mapped.push_back(found.isUndefined() && bound[1] ? *bound[1] : found);
    }
    return machine.sequence(Form::Generator, std::move(mapped));
  }
  const Value &name = arguments.positional[0];
  if (!name.isText())
    return machine.refuse("expected the name of a filter for 'map', but found ",
                          name.description());
  Arguments others = rest(arguments, 1);
  for (const Value &one : iterate(machine, value))
    mapped.push_back(applyFilter(machine, name.text().bytes(), one, others));
  return machine.sequence(Form::Generator, std::move(mapped));
}

/// select, reject, selectattr and rejectattr: what meets a test, or is true.
static Value select(Machine &machine, const Value &value,
                    const Arguments &arguments, bool byAttribute, bool wanted) {
  if (!isTrue(value)) // none too, as in map
    return machine.sequence(Form::Generator, {});
  size_t first = byAttribute ? 1 : 0;
  if (arguments.positional.size() < first)
    return machine.refuse("expected the name of an attribute to select by, but "
                          "found none");
  std::optional<std::string> test;
  if (arguments.positional.size() > first) {
    const Value &name = arguments.positional[first];
    if (!name.isText())
      return machine.refuse("expected the name of a test to select by, but "
                            "found ",
                            name.description());
    test = name.text().bytes();
  }
  Arguments others = rest(arguments, first + 1);
  std::vector<Value> selected;
  for (const Value &one : iterate(machine, value)) {
    if (machine.failed())
      break;
    Value subject = byAttribute
                        ? attributeByPath(machine, one, arguments.positional[0])
                        : one;
    bool meets =
        test ? applyTest(machine, *test, subject, others) : isTrue(subject);
    if (meets == wanted)
      selected.push_back(one);
  }
  return machine.sequence(Form::Generator, std::move(selected));
}
static Value selectOnes(Machine &machine, const Value &value,
                        const Arguments &arguments) {
  return select(machine, value, arguments, false, true);
}
static Value rejectOnes(Machine &machine, const Value &value,
                        const Arguments &arguments) {
  return select(machine, value, arguments, false, false);
}
static Value selectByAttribute(Machine &machine, const Value &value,
                               const Arguments &arguments) {
  return select(machine, value, arguments, true, true);
}
static Value rejectByAttribute(Machine &machine, const Value &value,
                               const Arguments &arguments) {
  return select(machine, value, arguments, true, false);
}

/// What values are ordered by, and where each was.
namespace {
struct Keyed {
  Value key;
  size_t place;
};
} // namespace

/// `keys` in order. Refused unless all are numbers or all are texts, which have
/// one.
static std::vector<Keyed> sorted(Machine &machine,
                                 const std::vector<Value> &keys,
                                 bool caseSensitive, bool reverse) {
  std::vector<Keyed> all;
  for (size_t i = 0; i < keys.size(); ++i) {
    const Value &key = keys[i];
    bool isLike = keys.size() == 1 ? true // alone it is compared with nothing
                  : key.isText()   ? keys[0].isText()
                                   : key.isNumber() && keys[0].isNumber() &&
                                         !std::isnan(key.number());
    if (!isLike) {
      machine.refuse(
          "expected numbers alone or texts alone to sort, but found ",
          keys[0].description(), " and ", key.description());
      return {};
    }
    if (key.isText())
      machine.reads(key.text().size() * 4);
    all.push_back(
        {key.isText() && !caseSensitive
             ? Value(TextRef(std::make_shared<Text>(toLower(key.text()))))
             : key,
         i});
  }
  if (!machine.step(keys.size() * 4))
    return {};
  auto less = [](const Value &one, const Value &other) {
    if (one.isText())
      return one.text().bytes() < other.text().bytes();
    if (one.isWhole() && other.isWhole())
      return one.whole() < other.whole();
    return one.number() < other.number();
  };
  // Equal ones keep their order, in the reversed order too.
  std::sort(all.begin(), all.end(), [&](const Keyed &one, const Keyed &other) {
    if (less(one.key, other.key))
      return !reverse;
    if (less(other.key, one.key))
      return reverse;
    return one.place < other.place;
  });
  return all;
}

static bool truthOf(const std::optional<Value> &value) {
  return value && isTrue(*value);
}

static Value sort(Machine &machine, const Value &value,
                  const Arguments &arguments) {
  auto bound = arguments.bind(machine, "sort",
                              {"reverse", "case_sensitive", "attribute"});
  std::vector<Value> items = iterate(machine, value), keys = items, result;
  if (bound[2] && !bound[2]->is(Kind::None))
    for (Value &key : keys)
      key = attributeByPath(machine, key, *bound[2]);
  for (const Keyed &one :
       sorted(machine, keys, truthOf(bound[1]), truthOf(bound[0])))
    result.push_back(items[one.place]);
  return machine.list(std::move(result));
}

static Value sortMapping(Machine &machine, const Value &value,
                         const Arguments &arguments) {
  auto bound =
      arguments.bind(machine, "dictsort", {"case_sensitive", "by", "reverse"});
  if (!value.is(Kind::Mapping))
    return machine.refuse("expected a mapping to sort, but found ",
                          value.description());
  bool byValue =
      bound[1] && bound[1]->isText() && bound[1]->text().bytes() == "value";
  const auto &entries = value.mapping().entries();
  std::vector<Value> keys, result;
  for (const Mapping::Entry &entry : entries)
    keys.push_back(byValue ? entry.value : Value(entry.key));
  for (const Keyed &one :
       sorted(machine, keys, truthOf(bound[0]), truthOf(bound[2])))
    result.push_back(machine.sequence(
        Form::Tuple, {entries[one.place].key, entries[one.place].value}));
  return machine.list(std::move(result));
}

static Value extreme(Machine &machine, const Value &value,
                     const Arguments &arguments, bool largest) {
  auto bound = arguments.bind(machine, largest ? "max" : "min",
                              {"case_sensitive", "attribute"});
  std::vector<Value> items = iterate(machine, value), keys = items;
  if (bound[1] && !bound[1]->is(Kind::None))
    for (Value &key : keys)
      key = attributeByPath(machine, key, *bound[1]);
  // Of equal ones Python takes the first.
  std::vector<Keyed> order = sorted(machine, keys, truthOf(bound[0]), largest);
  return order.empty() ? Value::undefined("the extreme of nothing")
                       : items[order.front().place];
}
static Value smallest(Machine &machine, const Value &value,
                      const Arguments &arguments) {
  return extreme(machine, value, arguments, false);
}
static Value largest(Machine &machine, const Value &value,
                     const Arguments &arguments) {
  return extreme(machine, value, arguments, true);
}

static Value unique(Machine &machine, const Value &value,
                    const Arguments &arguments) {
  auto bound =
      arguments.bind(machine, "unique", {"case_sensitive", "attribute"});
  std::vector<Value> result, seen;
  std::set<std::string> texts;
  for (const Value &one : iterate(machine, value)) {
    if (machine.failed())
      break;
    Value key = bound[1] && !bound[1]->is(Kind::None)
                    ? attributeByPath(machine, one, *bound[1])
                    : one;
    bool isNew;
    if (key.isText()) {
      isNew = texts
                  .insert(truthOf(bound[0]) ? key.text().bytes()
                                            : toLower(key.text()).bytes())
                  .second;
      machine.reads(key.text().size() * 4);
    } else {
      isNew = std::none_of(seen.begin(), seen.end(), [&](const Value &other) {
        return areEqual(machine, key, other);
      });
      if (isNew)
        seen.push_back(key);
    }
    if (isNew)
      result.push_back(one);
  }
  return machine.sequence(Form::Generator, std::move(result));
}

static Value sum(Machine &machine, const Value &value,
                 const Arguments &arguments) {
  auto bound = arguments.bind(machine, "sum", {"attribute", "start"});
  Value total = bound[1] ? *bound[1] : Value(int64_t(0));
  for (const Value &one : iterate(machine, value)) {
    if (machine.failed())
      break;
    total = calculate(machine, Operator::Add, total,
                      bound[0] && !bound[0]->is(Kind::None)
                          ? attributeByPath(machine, one, *bound[0])
                          : one);
  }
  return total;
}

static Value first(Machine &machine, const Value &value,
                   const Arguments &arguments) {
  arguments.bind(machine, "first", {});
  if (value.is(Kind::Sequence)) {
    const Sequence &from = value.sequence();
    if (from.taken == from.items.size())
      return Value::undefined("the first of nothing");
    const Value &found = from.items[from.taken];
    if (from.form == Form::Generator)
      ++from.taken;
    return found;
  }
  std::vector<Value> items = iterate(machine, value);
  return items.empty() ? Value::undefined("the first of nothing") : items[0];
}

static Value last(Machine &machine, const Value &value,
                  const Arguments &arguments) {
  arguments.bind(machine, "last", {});
  if (value.is(Kind::Sequence) && value.sequence().form == Form::Generator)
    return machine.refuse(
        "expected a list whose last element is asked for, but "
        "found a generator");
  std::vector<Value> items = iterate(machine, value);
  return items.empty() ? Value::undefined("the last of nothing") : items.back();
}

static Value list(Machine &machine, const Value &value,
                  const Arguments &arguments) {
  arguments.bind(machine, "list", {});
  return machine.list(iterate(machine, value));
}

static Value items(Machine &machine, const Value &value,
                   const Arguments &arguments) {
  arguments.bind(machine, "items", {});
  std::vector<Value> pairs;
  if (value.is(Kind::Mapping))
    for (const Mapping::Entry &entry : value.mapping().entries())
      pairs.push_back(machine.sequence(Form::Tuple, {entry.key, entry.value}));
  else if (!value.isUndefined())
    return machine.refuse("expected a mapping for 'items', but found ",
                          value.description());
  return machine.sequence(Form::Generator, std::move(pairs));
}

static Value reverse(Machine &machine, const Value &value,
                     const Arguments &arguments) {
  arguments.bind(machine, "reverse", {});
  if (value.isText())
    return slice(machine, value, None(), None(), int64_t(-1));
  std::vector<Value> all = iterate(machine, value);
  std::reverse(all.begin(), all.end());
  return machine.sequence(Form::Generator, std::move(all));
}

static Value join(Machine &machine, const Value &value,
                  const Arguments &arguments) {
  auto bound = arguments.bind(machine, "join", {"d", "attribute"});
  Text between = bound[0] ? toText(machine, *bound[0]) : Text(), joined;
  bool isFirst = true;
  for (const Value &one : iterate(machine, value)) {
    if (!isFirst)
      joined.append(between);
    isFirst = false;
    joined.append(toText(machine, bound[1] && !bound[1]->is(Kind::None)
                                      ? attributeByPath(machine, one, *bound[1])
                                      : one));
    if (joined.size() > kMostTextBytes || machine.failed())
      break;
  }
  return machine.text(std::move(joined));
}

Filter jinja::findListFilter(std::string_view name) {
  static const std::map<std::string_view, Filter> kFilters = {
      {"dictsort", sortMapping},
      {"first", first},
      {"items", items},
      {"join", join},
      {"last", last},
      {"list", list},
      {"map", map},
      {"max", largest},
      {"min", smallest},
      {"reject", rejectOnes},
      {"rejectattr", rejectByAttribute},
      {"reverse", reverse},
      {"select", selectOnes},
      {"selectattr", selectByAttribute},
      {"sort", sort},
      {"sum", sum},
      {"unique", unique}};
  auto found = kFilters.find(name);
  return found == kFilters.end() ? nullptr : found->second;
}
