#include "runtime/src/grammar/SchemaMerger.h"

#include "runtime/src/grammar/JsonRules.h"

#include <algorithm>
#include <charconv>

using namespace effc::rt;
using namespace effc::rt::grammar;
using jinja::Kind;
using jinja::Mapping;
using jinja::Value;

/// Joins and references in each other, and in all: a schema of some bytes could ask
/// for any number of them.
static constexpr unsigned kMostJoinDepth = 64, kMostJoins = 20000;

Error grammar::refuseAt(effc_status_code_t code, const std::string &place,
                        const std::string &why) {
  return fail(code, "the schema at '", place.empty() ? "/" : place.c_str(),
              "': ", why);
}

bool grammar::isDescription(std::string_view keyword) {
  static constexpr std::string_view kWords[] = {
      "title",    "description", "default",     "examples", "example",
      "$schema",  "$id",         "id",          "$comment", "deprecated",
      "readOnly", "writeOnly",   "definitions", "$defs"};
  return std::find(std::begin(kWords), std::end(kWords), keyword) !=
         std::end(kWords);
}

std::vector<Value> grammar::elementsOf(const Value &value) {
  if (value.is(Kind::Sequence))
    return value.sequence().items;
  return {value};
}

Value grammar::listOf(std::vector<Value> items) {
  return std::make_shared<const jinja::Sequence>(jinja::Form::List,
                                                 std::move(items));
}

std::string grammar::plainText(const Value &value) {
  switch (value.kind()) {
  case Kind::Boolean:
    return value.boolean() ? "true" : "false";
  case Kind::Integer:
  case Kind::Float: {
    double number = value.number();
    if (value.is(Kind::Integer) &&
        static_cast<int64_t>(std::clamp(number, -9e18, 9e18)) != value.whole())
      return std::to_string(value.whole());
    char digits[40];
    auto [end, code] = std::to_chars(digits, digits + sizeof digits, number);
    return std::string(digits, end);
  }
  case Kind::Text:
    return quoted(value.text().bytes());
  case Kind::Sequence: {
    std::string text = "[";
    for (const Value &item : value.sequence().items)
      text += plainText(item) + ",";
    return text + "]";
  }
  case Kind::Mapping: {
    std::vector<std::string> members;
    for (const Mapping::Entry &entry : value.mapping().entries())
      members.push_back(plainText(entry.key) + ":" + plainText(entry.value));
    std::sort(members.begin(), members.end());
    std::string text = "{";
    for (const std::string &member : members)
      text += member + ",";
    return text + "}";
  }
  default:
    return "null";
  }
}

/// A part of a JSON pointer as the key that it names: "~1" is "/", "~0" is "~".
static std::string keyOf(std::string_view part) {
  std::string key;
  for (size_t i = 0; i < part.size(); ++i) {
    bool isMarked = part[i] == '~' && i + 1 < part.size();
    if (isMarked && (part[i + 1] == '0' || part[i + 1] == '1'))
      key += part[++i] == '0' ? '~' : '/';
    else
      key += part[i];
  }
  return key;
}

Result<const Value *> SchemaMerger::resolve(const std::string &reference,
                                            const std::string &place) const {
  if (!reference.starts_with("#") ||
      (reference.size() > 1 && reference[1] != '/'))
    return refuseAt(EFFC_UNSUPPORTED, place,
                    "expected a '$ref' within the schema, as '#/$defs/name', "
                    "but found '",
                    reference, "'");
  const Value *found = &root;
  std::string_view rest = std::string_view(reference).substr(1);
  while (!rest.empty() && found) {
    rest.remove_prefix(1);
    std::string_view part = rest.substr(0, rest.find('/'));
    rest.remove_prefix(part.size());
    std::string key = keyOf(part);
    if (found->is(Kind::Mapping)) {
      found = found->mapping().find(key);
      continue;
    }
    size_t index = 0;
    auto [end, code] =
        std::from_chars(key.data(), key.data() + key.size(), index);
    bool isIndex = code == std::errc() && end == key.data() + key.size();
    found = found->is(Kind::Sequence) && isIndex &&
                    index < found->sequence().items.size()
                ? &found->sequence().items[index]
                : nullptr;
  }
  if (!found)
    return refuseAt(EFFC_INVALID_ARGUMENT, place, "'$ref' is '", reference,
                    "', which the schema does not have");
  return found;
}

Result<Value> SchemaMerger::join(const std::vector<Value> &schemas,
                                 const std::string &place, unsigned depth) {
  auto sum = std::make_shared<Mapping>();
  for (const Value &schema : schemas)
    if (Check error = add(*sum, schema, place, depth))
      return *error;
  return Value(std::shared_ptr<const Mapping>(std::move(sum)));
}

Check SchemaMerger::add(Mapping &sum, const Value &schema,
                        const std::string &place, unsigned depth) {
  if (depth > kMostJoinDepth || ++joins > kMostJoins)
    return refuseAt(EFFC_UNSUPPORTED, place,
                    "too many 'allOf' and '$ref' in each other");
  if (schema.is(Kind::Boolean) && schema.boolean())
    return {};
  if (!schema.is(Kind::Mapping))
    return refuseAt(EFFC_INVALID_ARGUMENT, place,
                    schema.is(Kind::Boolean) ? "nothing fits 'false'"
                                             : "expected a mapping as schema");
  const Mapping &mapping = schema.mapping();
  if (const Value *reference = mapping.find("$ref")) {
    if (!reference->isText())
      return refuseAt(EFFC_INVALID_ARGUMENT, place,
                      "expected a text as '$ref'");
    auto target = resolve(reference->text().bytes(), place);
    if (!target)
      return target.error();
    if (Check error = add(sum, **target, place, depth + 1))
      return error;
  }
  if (const Value *all = mapping.find("allOf")) {
    if (!all->is(Kind::Sequence))
      return refuseAt(EFFC_INVALID_ARGUMENT, place,
                      "expected a list as 'allOf'");
    for (const Value &each : all->sequence().items)
      if (Check error = add(sum, each, place, depth + 1))
        return error;
  }
  if (Check error = closeTo(sum, mapping, place))
    return error;
  for (const Mapping::Entry &entry : mapping.entries()) {
    const std::string &keyword = entry.key.text().bytes();
    if (keyword == "$ref" || keyword == "allOf" || isDescription(keyword))
      continue;
    if (Check error = addKeyword(sum, keyword, entry.value, place))
      return error;
  }
  return {};
}

static Value bothOf(const Value &a, const Value &b) {
  auto joined = std::make_shared<Mapping>();
  joined->set("allOf", listOf({a, b}));
  return std::shared_ptr<const Mapping>(std::move(joined));
}

static bool isClosed(const Mapping &schema) {
  const Value *more = schema.find("additionalProperties");
  return more && more->is(Kind::Boolean) && !more->boolean();
}

/// Where one of two says that no other properties are there, the other has to have
/// no others.
Check SchemaMerger::closeTo(Mapping &sum, const Mapping &other,
                            const std::string &place) {
  auto check = [&](const Mapping &closed, const Mapping &open) -> Check {
    const Value *own = closed.find("properties");
    const Value *theirs = open.find("properties");
    if (!isClosed(closed) || !theirs || !theirs->is(Kind::Mapping))
      return {};
    for (const Mapping::Entry &entry : theirs->mapping().entries())
      if (!own || !own->is(Kind::Mapping) || !own->mapping().find(entry.key))
        return refuseAt(EFFC_UNSUPPORTED, place,
                        "'allOf' joins 'additionalProperties' of false with "
                        "the property '",
                        entry.key.text().bytes(), "' of another part");
    return {};
  };
  if (sum.size() == 0)
    return {};
  if (Check error = check(sum, other))
    return error;
  return check(other, sum);
}

/// The types of both: an integer is a number, too.
static Value commonTypes(const Value &a, const Value &b) {
  auto has = [](const std::vector<Value> &types, std::string_view name) {
    return std::any_of(types.begin(), types.end(), [&](const Value &type) {
      return type.isText() && type.text().bytes() == name;
    });
  };
  std::vector<Value> both, first = elementsOf(a), second = elementsOf(b);
  for (const Value &type : first) {
    if (!type.isText())
      continue;
    const std::string &name = type.text().bytes();
    if (has(second, name) || (name == "integer" && has(second, "number")))
      both.push_back(type);
    else if (name == "number" && has(second, "integer"))
      both.push_back(Value::own("integer"));
  }
  return listOf(std::move(both));
}

Check SchemaMerger::addKeyword(Mapping &sum, std::string_view keyword,
                               const Value &value, const std::string &place) {
  const Value *before = sum.find(keyword);
  if (!before || plainText(*before) == plainText(value)) {
    sum.set(keyword, value);
    return {};
  }
  auto set = [&](Value joined) -> Check {
    sum.set(keyword, std::move(joined));
    return {};
  };
  bool areNumbers = before->isNumber() && value.isNumber();
  bool areMappings = before->is(Kind::Mapping) && value.is(Kind::Mapping);
  if (keyword == "type")
    return set(commonTypes(*before, value));
  if (areNumbers &&
      (keyword.starts_with("min") || keyword == "exclusiveMinimum"))
    return set(before->number() < value.number() ? value : *before);
  if (areNumbers &&
      (keyword.starts_with("max") || keyword == "exclusiveMaximum"))
    return set(before->number() > value.number() ? value : *before);
  if (keyword == "required" && before->is(Kind::Sequence) &&
      value.is(Kind::Sequence)) {
    std::vector<Value> names = before->sequence().items;
    names.insert(names.end(), value.sequence().items.begin(),
                 value.sequence().items.end());
    return set(listOf(std::move(names)));
  }
  if (keyword == "properties" && areMappings) {
    auto all = std::make_shared<Mapping>(before->mapping());
    for (const Mapping::Entry &entry : value.mapping().entries()) {
      const Value *own = all->find(entry.key);
      all->set(entry.key, own ? bothOf(*own, entry.value) : entry.value);
    }
    return set(std::shared_ptr<const Mapping>(std::move(all)));
  }
  if (keyword == "items")
    return set(bothOf(*before, value));
  if (keyword == "additionalProperties" && before->is(Kind::Boolean) &&
      before->boolean())
    return set(value);
  if (keyword == "additionalProperties" && value.is(Kind::Boolean) &&
      value.boolean())
    return {};
  return refuseAt(EFFC_UNSUPPORTED, place, "two values of '",
                  std::string(keyword), "' that are to hold together");
}
