#include "tools/effc-serve/api/Fields.h"

#include "tools/effc-serve/wire/JsonText.h"

#include <algorithm>
#include <cmath>

using namespace effc::serve;
using Json = nlohmann::ordered_json;

/// The most levels of lists and mappings: what reads them calls itself.
static constexpr size_t kMostLevels = 64;
/// The most members of an object: they keep their order, in which each is looked for.
static constexpr size_t kMostMembers = 2048;
static constexpr size_t kMostIgnored = 32; // that are named
static constexpr size_t kMostIgnoredBytes = 128;

namespace {
struct Extent {
  size_t levels = 0;  // that brackets outside of strings open
  size_t members = 0; // the most of an object
};
} // namespace

static Extent extentOf(const std::string &text) {
  Extent extent;
  std::vector<size_t> open; // the members of each so far
  bool isString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (isString) {
      i += c == '\\';
      isString = c != '"';
    } else if (c == '"') {
      isString = true;
    } else if (c == '[' || c == '{') {
      open.push_back(0);
      extent.levels = std::max(extent.levels, open.size());
    } else if ((c == ']' || c == '}') && !open.empty()) {
      open.pop_back();
    } else if (c == ':' && !open.empty()) {
      extent.members = std::max(extent.members, ++open.back());
    }
  }
  return extent;
}

Json effc::serve::parseBody(const std::string &body) {
  if (body.empty())
    return Json::object(); // as clients send what has no field
  Extent extent = extentOf(body);
  if (extent.levels > kMostLevels)
    throw ApiError(400, "the body nests " + std::to_string(extent.levels) +
                            " levels, but " + std::to_string(kMostLevels) +
                            " are possible");
  if (extent.members > kMostMembers)
    throw ApiError(400, "an object of the body has " +
                            std::to_string(extent.members) + " members, but " +
                            std::to_string(kMostMembers) + " are possible");
  Json parsed;
  try {
    parsed = Json::parse(body);
  } catch (const Json::exception &error) {
    // "[json.exception.parse_error.101] parse error at line 1, ..."
    std::string reason = error.what();
    if (size_t end = reason.find("] "); end != std::string::npos)
      reason.erase(0, end + 2);
    throw ApiError(400, "the body is no JSON: " + reason);
  }
  if (!parsed.is_object())
    throw ApiError(400,
                   "the body is to be a JSON object, but is " + shown(parsed));
  return parsed;
}

std::string effc::serve::shown(const Json &value) {
  if (value.is_array())
    return "a list of " + std::to_string(value.size());
  if (value.is_object())
    return "an object";
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() <= 40)
    return text;
  return value.is_string()
             ? "a text of " +
                   std::to_string(value.get_ref<const std::string &>().size()) +
                   " bytes"
             : text.substr(0, 40) + "...";
}

static const char *nameOf(FieldType type) {
  switch (type) {
  case FieldType::Boolean:
    return "true or false";
  case FieldType::Integer:
    return "a whole number";
  case FieldType::Number:
    return "a number";
  case FieldType::Text:
    return "a text";
  case FieldType::List:
    return "a list";
  case FieldType::Mapping:
    return "an object";
  case FieldType::Any:
    break;
  }
  return "a value";
}

static bool hasType(const Json &value, FieldType type) {
  switch (type) {
  case FieldType::Boolean:
    return value.is_boolean();
  case FieldType::Integer:
    return value.is_number_integer() ||
           (value.is_number_float() &&
            value.get<double>() == std::floor(value.get<double>()));
  case FieldType::Number:
    return value.is_number();
  case FieldType::Text:
    return value.is_string();
  case FieldType::List:
    return value.is_array();
  case FieldType::Mapping:
    return value.is_object();
  case FieldType::Any:
    break;
  }
  return true;
}

static std::string boundText(double bound) {
  if (bound == std::floor(bound) && std::fabs(bound) < 9.2e18)
    return std::to_string(static_cast<int64_t>(bound));
  char text[32];
  std::snprintf(text, sizeof text, "%g", bound);
  return text;
}

/// A number as it was written: a double has not room for all whole ones.
static long double exact(const Json &value) {
  if (value.is_number_unsigned())
    return static_cast<long double>(value.get<uint64_t>());
  if (value.is_number_integer())
    return static_cast<long double>(value.get<int64_t>());
  return value.get<double>();
}

static void checkField(const Field &field, const Json &value) {
  auto refuse = [&](const std::string &of, const std::string &found) {
    std::string bounds = boundText(field.least);
    if (field.most == std::numeric_limits<double>::max())
      bounds += " or more";
    else
      bounds += " to " + boundText(field.most);
    throw ApiError::invalid(field.name, "expects " + std::string(of) + " " +
                                            bounds + ", but got " + found);
  };
  if (!hasType(value, field.type))
    throw ApiError::invalid(field.name, "expects " +
                                            std::string(nameOf(field.type)) +
                                            ", but got " + shown(value));
  if (field.type == FieldType::Integer || field.type == FieldType::Number) {
    long double number = exact(value);
    if (!(number >= field.least && number <= field.most))
      refuse(field.type == FieldType::Integer ? "a whole number from"
                                              : "a number from",
             shown(value));
    return;
  }
  size_t size = value.size();
  if (field.type == FieldType::Text)
    size = value.get_ref<const std::string &>().size();
  bool isCounted = field.type == FieldType::Text ||
                   field.type == FieldType::List ||
                   field.type == FieldType::Mapping;
  double count = static_cast<double>(size);
  if (isCounted && !(count >= field.least && count <= field.most))
    refuse(field.type == FieldType::Text ? "a text with a number of bytes from"
                                         : "a number of entries from",
           std::to_string(size));
}

/// Whether a value asks for nothing.
static bool isNeutral(const Json &value) {
  return value.is_null() || value == Json(false) ||
         (value.is_number() && value.get<double>() == 0) ||
         (value.is_string() && value.get_ref<const std::string &>().empty()) ||
         (value.is_structured() && value.empty());
}

Fields::Fields(const Json &given, std::span<const Field> known,
               std::span<const RefusedField> refused)
    : object(given) {
  for (const auto &[key, value] : object.items()) {
    auto isIt = [&name = key](const auto &row) { return row.name == name; };
    if (auto field = std::ranges::find_if(known, isIt); field != known.end()) {
      if (!value.is_null())
        checkField(*field, value);
      continue;
    }
    if (auto row = std::ranges::find_if(refused, isIt); row != refused.end()) {
      if (!isNeutral(value))
        throw ApiError(400, "'" + key + "' is not possible: " + row->reason,
                       key, "unsupported_parameter");
      continue;
    }
    addIgnored(key, unknown);
  }
  // What is read of these is the same everywhere.
  auto look = [&](const std::string &place, const Json *inner,
                  std::initializer_list<std::string_view> read) {
    if (!inner || !inner->is_object())
      return;
    for (const auto &[key, value] : inner->items())
      if (std::ranges::find(read, key) == read.end())
        addIgnored(place + "." + key, unknown);
  };
  auto isKnown = [&](const char *name) {
    return std::ranges::any_of(known, [&](const Field &field) {
      return std::string_view(field.name) == name;
    });
  };
  if (isKnown("stream_options"))
    look("stream_options", find("stream_options"), {"include_usage"});
  if (const Json *format = find("response_format");
      format && isKnown("response_format")) {
    look("response_format", format, {"type", "json_schema", "schema"});
    if (format->contains("json_schema"))
      look("response_format.json_schema", &(*format)["json_schema"],
           {"name", "description", "schema", "strict"});
  }
}

void Fields::addIgnored(const std::string &place,
                        std::vector<std::string> &list) {
  if (list.size() < kMostIgnored && place.size() <= kMostIgnoredBytes)
    list.push_back(place);
}

const Json *Fields::find(const char *name) const {
  auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

bool Fields::flag(const char *name, bool otherwise) const {
  const Json *value = find(name);
  return value ? value->get<bool>() : otherwise;
}

int64_t Fields::integer(const char *name, int64_t otherwise) const {
  const Json *value = find(name);
  return value ? value->get<int64_t>() : otherwise;
}

double Fields::number(const char *name, double otherwise) const {
  const Json *value = find(name);
  return value ? value->get<double>() : otherwise;
}

std::string Fields::text(const char *name, const char *otherwise) const {
  const Json *value = find(name);
  return value ? value->get<std::string>() : otherwise;
}
