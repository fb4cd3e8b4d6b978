#include "runtime/src/grammar/SchemaReader.h"

#include "runtime/src/grammar/ObjectRules.h"
#include "runtime/src/grammar/PatternReader.h"
#include "runtime/src/grammar/SchemaMerger.h"
#include "runtime/src/grammar/TextFormats.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>

using namespace effc::rt;
using namespace effc::rt::grammar;
using jinja::Kind;
using jinja::Mapping;
using jinja::Value;

/// What keywords are about; a schema without `type` has that of the first that is
/// there.
static constexpr struct {
  std::string_view keyword, type;
} kKeywords[] = {{"properties", "object"},
                 {"required", "object"},
                 {"additionalProperties", "object"},
                 {"items", "array"},
                 {"prefixItems", "array"},
                 {"minItems", "array"},
                 {"maxItems", "array"},
                 {"pattern", "string"},
                 {"format", "string"},
                 {"minLength", "string"},
                 {"maxLength", "string"},
                 {"minimum", "integer"},
                 {"maximum", "integer"},
                 {"exclusiveMinimum", "integer"},
                 {"exclusiveMaximum", "integer"}};

static std::string placeBehind(const std::string &place,
                               std::string_view part) {
  return place + "/" + std::string(part);
}

namespace {
class Reader {
public:
  explicit Reader(Value given) : root(std::move(given)), merger(root) {}

  Result<Rules> run() {
    rules.root = ruleOf(root, "");
    // In turns, for schemas may lie in each other by any number of references.
    while (!waiting.empty() && !error) {
      Waiting next = std::move(waiting.front());
      waiting.pop_front();
      Expression body = build(next.schema, next.place);
      rules.all[next.rule].body = std::move(body);
      if (rules.all.size() > kMostRules)
        refuse(EFFC_UNSUPPORTED, next.place, "expected at most ", kMostRules,
               " parts in all");
    }
    if (error)
      return *error;
    if (Check wrong = checkRules(rules))
      return *wrong;
    return std::move(rules);
  }

private:
  struct Waiting {
    uint32_t rule;
    Value schema;
    std::string place;
  };

  template <typename... Parts>
  Expression refuse(effc_status_code_t code, const std::string &place,
                    const Parts &...parts) {
    if (!error)
      error = refuseAt(code, place, parts...);
    return {};
  }

  /// The rule of a schema, which is made later.
  uint32_t ruleOf(const Value &schema, const std::string &place) {
    const void *identity =
        schema.is(Kind::Mapping) ? &schema.mapping() : nullptr;
    if (identity)
      if (auto found = known.find(identity); found != known.end())
        return found->second;
    uint32_t rule = rules.add(place.empty() ? "root" : place, {},
                              "the schema at '" + place + "'");
    if (identity)
      known[identity] = rule;
    waiting.push_back({rule, schema, place});
    return rule;
  }
  Expression callOf(const Value &schema, const std::string &place) {
    return call(ruleOf(schema, place));
  }

  Expression build(const Value &schema, const std::string &place) {
    if (schema.is(Kind::Boolean))
      return schema.boolean()
                 ? json.value()
                 : refuse(EFFC_INVALID_ARGUMENT, place, "nothing fits 'false'");
    if (!schema.is(Kind::Mapping))
      return refuse(EFFC_INVALID_ARGUMENT, place,
                    "expected a mapping as schema, but found ",
                    schema.description());
    const Mapping &mapping = schema.mapping();
    if (!checkKeywords(mapping, place))
      return {};
    if (const Value *reference = mapping.find("$ref");
        reference && reference->isText() && saysNothingBeside(mapping, "$ref"))
      return follow(reference->text().bytes(), place);
    if (mapping.find("$ref") || mapping.find("allOf"))
      return join({schema}, place);
    for (std::string_view keyword : {"anyOf", "oneOf"})
      if (const Value *choices = mapping.find(keyword))
        return buildChoice(mapping, keyword, *choices, place);
    if (mapping.find("enum") || mapping.find("const"))
      return buildConstants(mapping, place);
    return buildTypes(mapping, place);
  }

  static bool isKnown(std::string_view keyword) {
    static constexpr std::string_view kOthers[] = {
        "type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"};
    return isDescription(keyword) ||
           std::find(std::begin(kOthers), std::end(kOthers), keyword) !=
               std::end(kOthers) ||
           std::any_of(
               std::begin(kKeywords), std::end(kKeywords),
               [&](const auto &each) { return each.keyword == keyword; });
  }

  bool checkKeywords(const Mapping &mapping, const std::string &place) {
    for (const Mapping::Entry &entry : mapping.entries()) {
      const std::string &keyword = entry.key.text().bytes();
      bool saysNothing = keyword == "uniqueItems" &&
                         entry.value.is(Kind::Boolean) &&
                         !entry.value.boolean();
      if (isKnown(keyword) || saysNothing)
        continue;
      refuse(EFFC_UNSUPPORTED, place, "the keyword '", keyword,
             "' is not understood");
      return false;
    }
    return true;
  }

  static bool saysNothingBeside(const Mapping &mapping,
                                std::string_view keyword) {
    return std::all_of(mapping.entries().begin(), mapping.entries().end(),
                       [&](const Mapping::Entry &entry) {
                         const std::string &key = entry.key.text().bytes();
                         return key == keyword || isDescription(key);
                       });
  }

  Expression follow(const std::string &reference, const std::string &place) {
    auto target = merger.resolve(reference, place);
    if (!target) {
      if (!error)
        error = target.error();
      return {};
    }
    return callOf(**target, reference.substr(1));
  }

  Expression join(const std::vector<Value> &schemas, const std::string &place) {
    Result<Value> joined = merger.join(schemas, place);
    if (joined)
      return callOf(keep(std::move(*joined)), place);
    if (!error)
      error = joined.error();
    return {};
  }

  /// Rules are known by where their schemas lie.
  const Value &keep(Value schema) {
    kept.push_back(std::move(schema));
    return kept.back();
  }

  Expression buildChoice(const Mapping &mapping, std::string_view keyword,
                         const Value &choices, const std::string &place) {
    if (!choices.is(Kind::Sequence) || choices.sequence().items.empty())
      return refuse(EFFC_INVALID_ARGUMENT, place,
                    "expected a list that is not empty as '",
                    std::string(keyword), "'");
    auto rest = std::make_shared<Mapping>();
    for (const Mapping::Entry &entry : mapping.entries())
      if (entry.key.text().bytes() != keyword)
        rest->set(entry.key, entry.value);
    bool isBare = saysNothingBeside(mapping, keyword);
    Value beside = std::shared_ptr<const Mapping>(std::move(rest));
    std::vector<Expression> parts;
    for (size_t i = 0; i < choices.sequence().items.size(); ++i) {
      const Value &each = choices.sequence().items[i];
      std::string inner =
          placeBehind(placeBehind(place, keyword), std::to_string(i));
      parts.push_back(isBare ? callOf(each, inner)
                             : join({beside, each}, inner));
    }
    return choice(std::move(parts));
  }

  /// The values that have one of the types, if there are any.
  Expression buildConstants(const Mapping &mapping, const std::string &place) {
    const Value *several = mapping.find("enum"), *one = mapping.find("const");
    for (const Mapping::Entry &entry : mapping.entries()) {
      const std::string &keyword = entry.key.text().bytes();
      if (keyword != "enum" && keyword != "const" && keyword != "type" &&
          !isDescription(keyword))
        return refuse(EFFC_UNSUPPORTED, place, "'", keyword,
                      "' beside 'enum' or 'const' is not understood");
    }
    if (several && !several->is(Kind::Sequence))
      return refuse(EFFC_INVALID_ARGUMENT, place, "expected a list as 'enum'");
    std::vector<Value> values =
        several ? several->sequence().items : std::vector<Value>{*one};
    if (several && one)
      std::erase_if(values, [&](const Value &value) {
        return plainText(value) != plainText(*one);
      });
    if (const Value *types = mapping.find("type"))
      std::erase_if(values, [&](const Value &value) {
        std::vector<Value> all = elementsOf(*types);
        return std::none_of(all.begin(), all.end(), [&](const Value &type) {
          return type.isText() && hasType(value, type.text().bytes());
        });
      });
    if (values.empty())
      return refuse(EFFC_INVALID_ARGUMENT, place,
                    "no value of 'enum' or 'const' fits the rest");
    std::vector<Expression> choices;
    for (const Value &value : values)
      choices.push_back(json.constant(value));
    return choice(std::move(choices));
  }

  static bool hasType(const Value &value, std::string_view type) {
    switch (value.kind()) {
    case Kind::None:
      return type == "null";
    case Kind::Boolean:
      return type == "boolean";
    case Kind::Integer:
      return type == "integer" || type == "number";
    case Kind::Float:
      return type == "number" || (type == "integer" &&
                                  std::floor(value.number()) == value.number());
    case Kind::Text:
      return type == "string";
    case Kind::Sequence:
      return type == "array";
    default:
      return type == "object";
    }
  }

  Expression buildTypes(const Mapping &mapping, const std::string &place) {
    std::vector<Value> types;
    if (const Value *given = mapping.find("type"))
      types = elementsOf(*given);
    for (const auto &[keyword, type] : kKeywords)
      if (!mapping.find("type") && types.empty() && mapping.find(keyword))
        types.push_back(Value::own(std::string(type)));
    if (!mapping.find("type") && types.empty())
      return json.value();
    if (types.empty())
      return refuse(EFFC_INVALID_ARGUMENT, place, "no 'type' is left");
    std::vector<Expression> choices;
    for (const Value &type : types) {
      if (!type.isText())
        return refuse(EFFC_INVALID_ARGUMENT, place,
                      "expected names of types as 'type'");
      choices.push_back(buildType(type.text().bytes(), mapping, place));
    }
    return choice(std::move(choices));
  }

  Expression buildType(const std::string &type, const Mapping &mapping,
                       const std::string &place) {
    if (type == "object")
      return buildObject(mapping, place);
    if (type == "array")
      return buildArray(mapping, place);
    if (type == "string")
      return buildText(mapping, place);
    if (type == "integer")
      return buildInteger(mapping, place);
    if (type == "number")
      return buildNumber(mapping, place);
    if (type == "boolean")
      return json.boolean();
    if (type == "null")
      return json.null();
    return refuse(EFFC_INVALID_ARGUMENT, place, "the type '", type,
                  "' is none of JSON's");
  }

  /// A keyword's whole number from 0 on.
  std::optional<uint32_t> countAt(const Mapping &mapping,
                                  std::string_view keyword,
                                  const std::string &place) {
    const Value *found = mapping.find(keyword);
    if (!found)
      return std::nullopt;
    bool isWhole = found->isNumber() && !found->is(Kind::Boolean) &&
                   std::floor(found->number()) == found->number() &&
                   found->number() >= 0;
    if (!isWhole)
      refuse(EFFC_INVALID_ARGUMENT, place,
             "expected a whole number from 0 on "
             "as '",
             std::string(keyword), "'");
    else if (found->number() > kMostRepeats)
      refuse(EFFC_UNSUPPORTED, place, "'", std::string(keyword), "' is above ",
             kMostRepeats);
    else
      return static_cast<uint32_t>(found->number());
    return std::nullopt;
  }

  std::pair<uint32_t, uint32_t> countsAt(const Mapping &mapping,
                                         std::string_view least,
                                         std::string_view most,
                                         const std::string &place) {
    uint32_t low = countAt(mapping, least, place).value_or(0);
    uint32_t high = countAt(mapping, most, place).value_or(kNoLimit);
    if (high < low)
      refuse(EFFC_INVALID_ARGUMENT, place, "'", std::string(most),
             "' is below '", std::string(least), "'");
    return {low, std::max(low, high)};
  }

  Expression buildText(const Mapping &mapping, const std::string &place) {
    auto [least, most] = countsAt(mapping, "minLength", "maxLength", place);
    bool isBounded = least > 0 || most != kNoLimit;
    const Value *pattern = mapping.find("pattern");
    const Value *format = mapping.find("format");
    if ((pattern && format) || ((pattern || format) && isBounded))
      return refuse(EFFC_UNSUPPORTED, place,
                    "of 'pattern', 'format' and lengths together only one is "
                    "understood: write lengths into the pattern");
    if ((pattern && !pattern->isText()) || (format && !format->isText()))
      return refuse(EFFC_INVALID_ARGUMENT, place,
                    "expected a text as 'pattern' or 'format'");
    if (!pattern && !format && !isBounded)
      return json.text();
    Expression inner = repeat(json.character(), least, most);
    if (pattern) {
      Result<Expression> read = readPattern(pattern->text().bytes(), json);
      if (!read)
        return refuse(read.error().code, place, read.error().message);
      inner = std::move(*read);
    }
    if (format) {
      std::optional<Expression> read = formatNamed(format->text().bytes());
      if (!read)
        return refuse(EFFC_UNSUPPORTED, place, "the 'format' '",
                      format->text().bytes(),
                      "' is not understood; 'date', 'time', 'date-time' and "
                      "'uuid' are");
      inner = std::move(*read);
    }
    return sequence({textOf("\""), std::move(inner), textOf("\"")});
  }

  static constexpr std::string_view kBounds[] = {
      "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"};

  Expression buildNumber(const Mapping &mapping, const std::string &place) {
    for (std::string_view keyword : kBounds)
      if (mapping.find(keyword))
        return refuse(EFFC_UNSUPPORTED, place, "'", std::string(keyword),
                      "' is understood of integers alone");
    return json.number();
  }

  Expression buildInteger(const Mapping &mapping, const std::string &place) {
    // What a double, and so every reader of JSON, holds to the last digit.
    constexpr double kUsual = 9'007'199'254'740'991;
    double least = -INFINITY, most = INFINITY;
    for (std::string_view keyword : kBounds) {
      const Value *found = mapping.find(keyword);
      if (!found)
        continue;
      if (!found->isNumber() || found->is(Kind::Boolean))
        return refuse(EFFC_INVALID_ARGUMENT, place, "expected a number as '",
                      std::string(keyword), "'");
      double bound = found->number();
      if (std::abs(bound) > kUsual)
        return refuse(EFFC_UNSUPPORTED, place, "'", std::string(keyword),
                      "' is beyond 2^53");
      if (keyword == "minimum")
        least = std::max(least, std::ceil(bound));
      else if (keyword == "maximum")
        most = std::min(most, std::floor(bound));
      else if (keyword == "exclusiveMinimum")
        least = std::max(least, std::floor(bound) + 1);
      else
        most = std::min(most, std::ceil(bound) - 1);
    }
    if (least == -INFINITY && most == INFINITY)
      return json.integer();
    least = std::max(least, -kUsual);
    most = std::min(most, kUsual);
    if (least > most)
      return refuse(EFFC_INVALID_ARGUMENT, place,
                    "no integer lies between the bounds");
    return integersBetween(static_cast<int64_t>(least),
                           static_cast<int64_t>(most));
  }

  Expression buildArray(const Mapping &mapping, const std::string &place) {
    auto [least, most] = countsAt(mapping, "minItems", "maxItems", place);
    const Value *prefix = mapping.find("prefixItems");
    const Value *items = mapping.find("items");
    if (prefix && !prefix->is(Kind::Sequence))
      return refuse(EFFC_INVALID_ARGUMENT, place,
                    "expected a list as 'prefixItems'");
    if (items && items->is(Kind::Sequence))
      return refuse(EFFC_UNSUPPORTED, place,
                    "'items' as a list is not understood: call it "
                    "'prefixItems'");
    std::vector<Expression> first;
    if (prefix)
      for (size_t i = 0; i < prefix->sequence().items.size(); ++i)
        first.push_back(
            callOf(prefix->sequence().items[i],
                   placeBehind(place, "prefixItems/" + std::to_string(i))));
    bool hasMore = items ? !(items->is(Kind::Boolean) && !items->boolean())
                         : !prefix || least > first.size();
    if (!hasMore)
      most = std::min<uint32_t>(most, static_cast<uint32_t>(first.size()));
    if (least > most)
      return refuse(EFFC_INVALID_ARGUMENT, place,
                    "'minItems' is above the items that there can be");
    Expression each = json.value();
    if (hasMore && items)
      each = callOf(*items, placeBehind(place, "items"));
    return arrayOf(std::move(first), std::move(each), least, most, json, rules,
                   place);
  }

  Expression buildObject(const Mapping &mapping, const std::string &place) {
    const Value *properties = mapping.find("properties");
    const Value *required = mapping.find("required");
    const Value *more = mapping.find("additionalProperties");
    if ((properties && !properties->is(Kind::Mapping)) ||
        (required && !required->is(Kind::Sequence)))
      return refuse(EFFC_INVALID_ARGUMENT, place,
                    "expected a mapping as 'properties', and a list as "
                    "'required'");
    bool isClosed = more ? more->is(Kind::Boolean) && !more->boolean()
                         : properties || required;
    ObjectShape shape;
    std::set<std::string> needed;
    if (required)
      for (const Value &name : required->sequence().items) {
        if (!name.isText())
          return refuse(EFFC_INVALID_ARGUMENT, place,
                        "expected names as 'required'");
        needed.insert(name.text().bytes());
      }
    if (properties)
      for (const Mapping::Entry &entry : properties->mapping().entries()) {
        const std::string &name = entry.key.text().bytes();
        bool isNeeded = needed.erase(name) > 0;
        if (!isNeeded && entry.value.is(Kind::Boolean) &&
            !entry.value.boolean())
          continue; // never there
        shape.members.push_back(
            {name,
             callOf(entry.value, placeBehind(place, "properties/" + name)),
             isNeeded});
      }
    std::string inner = placeBehind(place, "additionalProperties");
    if (!needed.empty() && more && isClosed)
      return refuse(EFFC_INVALID_ARGUMENT, place, "'required' has '",
                    *needed.begin(), "', but no property is called so");
    for (const std::string &name : needed)
      shape.members.push_back(
          {name, more ? callOf(*more, inner) : json.value(), true});
    if (!isClosed)
      shape.more = more ? callOf(*more, inner) : json.value();
    return objectOf(shape, json, rules, place);
  }

  const Value root;
  SchemaMerger merger;
  Rules rules;
  JsonRules json{rules};
  std::map<const void *, uint32_t> known;
  std::deque<Waiting> waiting;
  std::deque<Value> kept;
  Check error;
};
} // namespace

Result<Rules> grammar::readSchema(std::string_view text) {
  if (text.size() > kMostTextBytes)
    return fail(EFFC_UNSUPPORTED, "expected a schema of at most ",
                kMostTextBytes, " bytes, but found ", text.size());
  Result<Value> root = jinja::readJson("schema", text);
  if (!root)
    return root.error();
  return Reader(std::move(*root)).run();
}

Rules grammar::jsonObject() {
  Rules rules;
  Expression object = JsonRules(rules).object();
  rules.root = rules.add("root", std::move(object));
  return rules;
}
