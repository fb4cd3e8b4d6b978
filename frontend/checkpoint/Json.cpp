#include "frontend/checkpoint/Json.h"

#include "frontend/checkpoint/MappedFile.h"
#include "frontend/checkpoint/Refusal.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace effc::frontend;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

JsonValue::JsonValue() : storage(nullptr) {}
JsonValue::JsonValue(Storage storage) : storage(std::move(storage)) {}
JsonValue::JsonValue(JsonValue &&) noexcept = default;
JsonValue &JsonValue::operator=(JsonValue &&) noexcept = default;
JsonValue::~JsonValue() = default;

std::optional<bool> JsonValue::getBoolean() const {
  if (const bool *value = std::get_if<bool>(&storage))
    return *value;
  return std::nullopt;
}

std::optional<uint64_t> JsonValue::getUnsigned() const {
  if (const uint64_t *value = std::get_if<uint64_t>(&storage))
    return *value;
  return std::nullopt;
}

std::optional<int64_t> JsonValue::getInteger() const {
  if (const int64_t *value = std::get_if<int64_t>(&storage))
    return *value;
  if (const uint64_t *value = std::get_if<uint64_t>(&storage))
    if (*value <= uint64_t(std::numeric_limits<int64_t>::max()))
      return int64_t(*value);
  return std::nullopt;
}

std::optional<double> JsonValue::getNumber() const {
  if (const double *value = std::get_if<double>(&storage))
    return *value;
  if (const uint64_t *value = std::get_if<uint64_t>(&storage))
    return double(*value);
  if (const int64_t *value = std::get_if<int64_t>(&storage))
    return double(*value);
  return std::nullopt;
}

const std::string *JsonValue::getString() const {
  return std::get_if<std::string>(&storage);
}

const JsonArray *JsonValue::getArray() const {
  return std::get_if<JsonArray>(&storage);
}

const JsonObject *JsonValue::getObject() const {
  const auto *object = std::get_if<std::unique_ptr<JsonObject>>(&storage);
  return object ? object->get() : nullptr;
}

std::string JsonValue::describe() const {
  if (isNull())
    return "null";
  if (auto value = getBoolean())
    return *value ? "true" : "false";
  if (auto value = getUnsigned())
    return std::to_string(*value);
  if (auto value = getInteger())
    return std::to_string(*value);
  if (auto value = getNumber()) {
    if (std::isnan(*value))
      return "NaN";
    if (std::isinf(*value))
      return *value < 0 ? "-Infinity" : "Infinity";
    // An integral one keeps a sign of being a float: 8.0 where 8 is expected.
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%.17g", *value);
    bool looksIntegral = text.find_first_of(".e") == std::string::npos;
    return looksIntegral ? text + ".0" : text;
  }
  if (const std::string *value = getString())
    return quote(*value, '"');
  if (const JsonArray *value = getArray())
    return "an array of " + std::to_string(value->size());
  return "an object";
}

llvm::Expected<JsonObject> JsonObject::create(std::vector<JsonMember> members) {
  JsonObject object;
  object.members = std::move(members);
  object.byKey.resize(object.members.size());
  std::iota(object.byKey.begin(), object.byKey.end(), 0);
  auto keyOf = [&](uint32_t i) {
    return llvm::StringRef(object.members[i].key);
  };
  llvm::sort(object.byKey,
             [&](uint32_t a, uint32_t b) { return keyOf(a) < keyOf(b); });
  for (size_t i = 1; i < object.byKey.size(); ++i)
    if (keyOf(object.byKey[i - 1]) == keyOf(object.byKey[i]))
      return refuse("key " + quote(keyOf(object.byKey[i])) +
                    " occurs twice in one object");
  return object;
}

const JsonValue *JsonObject::find(llvm::StringRef key) const {
  auto at = llvm::lower_bound(byKey, key, [&](uint32_t i, llvm::StringRef key) {
    return llvm::StringRef(members[i].key) < key;
  });
  if (at == byKey.end() || members[*at].key != key)
    return nullptr;
  return &members[*at].value;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

constexpr llvm::StringLiteral kFloatKey = "__float__";

std::optional<double> parseNonFinite(llvm::StringRef text) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (text == "Infinity")
    return infinity;
  if (text == "-Infinity")
    return -infinity;
  if (text == "NaN")
    return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

/// The text with each bare NaN, Infinity and -Infinity outside of a string
/// written as a tagged object, which JSON can say, and where that happened.
class TaggedText {
public:
  /// Leaves the text as it is unless `tag`.
  TaggedText(llvm::StringRef text, bool tag) : original(text) {
    if (!tag)
      return;
    size_t copied = 0;
    bool inString = false;
    for (size_t at = 0; at < text.size(); ++at) {
      char c = text[at];
      if (inString) {
        if (c == '\\')
          ++at;
        else if (c == '"')
          inString = false;
        continue;
      }
      if (c == '"')
        inString = true;
      if (c != 'N' && c != 'I' && c != '-')
        continue;
      llvm::StringRef word = text.substr(at).take_while(
          [](char c) { return c == '-' || c == '_' || llvm::isAlnum(c); });
      if (parseNonFinite(word)) {
        written += text.slice(copied, at);
        written += ("{\"" + kFloatKey + "\":\"" + word + "\"}").str();
        copied = at + word.size();
        edits.push_back({written.size(), copied});
      }
      at += word.size() - 1;
    }
    if (!edits.empty())
      written += text.substr(copied);
  }

  llvm::StringRef get() const { return edits.empty() ? original : written; }

  /// Line and column in the original of offset `at` of `get()`.
  std::string describePosition(size_t at) const {
    for (const Edit &edit : llvm::reverse(edits))
      if (at >= edit.endWritten) {
        at = at - edit.endWritten + edit.endOriginal;
        break;
      }
    llvm::StringRef before = original.take_front(at);
    size_t line = before.count('\n') + 1;
    size_t column = before.size() - (before.rfind('\n') + 1) + 1;
    return ("line " + llvm::Twine(line) + ", column " + llvm::Twine(column))
        .str();
  }

private:
  struct Edit {
    size_t endWritten, endOriginal;
  };
  llvm::StringRef original;
  std::string written;
  std::vector<Edit> edits;
};

/// Builds the value from the parser's events; `problem` tells why it stopped.
class Builder : public nlohmann::json_sax<nlohmann::json> {
public:
  Builder(const JsonLimits &limits, const TaggedText &text)
      : limits(limits), text(text) {}

  JsonValue root;
  std::string problem;

  bool null() override { return add(JsonValue()); }
  bool boolean(bool value) override { return add(JsonValue(value)); }
  bool number_integer(number_integer_t value) override {
    return add(JsonValue(int64_t(value)));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return add(JsonValue(uint64_t(value)));
  }
  bool number_float(number_float_t value, const string_t &) override {
    return add(JsonValue(double(value)));
  }
  bool string(string_t &value) override {
    return add(JsonValue(std::move(value)));
  }
  bool binary(binary_t &) override { return false; }
  bool start_object(std::size_t) override { return open(true); }
  bool start_array(std::size_t) override { return open(false); }
  bool key(string_t &value) override {
    stack.back().key = std::move(value);
    return true;
  }

  bool end_array() override {
    JsonArray elements = std::move(stack.back().elements);
    stack.pop_back();
    return add(JsonValue(std::move(elements)));
  }

  bool end_object() override {
    std::vector<JsonMember> members = std::move(stack.back().members);
    stack.pop_back();
    if (limits.nonFinite && members.size() == 1 &&
        members[0].key == kFloatKey) {
      const std::string *word = members[0].value.getString();
      std::optional<double> value;
      if (word)
        value = parseNonFinite(*word);
      if (!value)
        return stop("expects '__float__' to be \"Infinity\", \"-Infinity\" or "
                    "\"NaN\", but got " +
                    members[0].value.describe());
      return add(JsonValue(*value));
    }
    auto object = JsonObject::create(std::move(members));
    if (!object)
      return stop(llvm::toString(object.takeError()));
    return add(JsonValue(std::make_unique<JsonObject>(std::move(*object))));
  }

  bool parse_error(std::size_t position, const std::string &,
                   const nlohmann::detail::exception &error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax
    // error while parsing value - invalid literal; last read: 'x'": the reason
    // alone is kept.
    llvm::StringRef what = error.what();
    if (what.contains("] "))
      what = what.split("] ").second;
    if (what.starts_with("parse error at "))
      what = what.split(": ").second;
    if (what.starts_with("syntax error while parsing "))
      what = what.split(" - ").second;
    what = what.split("; last read: ").first;
    std::string plain = quote(what);
    return stop(text.describePosition(position ? position - 1 : 0) + ": " +
                plain.substr(1, plain.size() - 2));
  }

private:
  struct Frame {
    bool isObject;
    std::string key;
    JsonArray elements;
    std::vector<JsonMember> members;
  };

  bool open(bool isObject) {
    if (stack.size() >= limits.depth)
      return stop("expects at most " + std::to_string(limits.depth) +
                  " levels of nesting, but got more");
    stack.push_back({isObject, {}, {}, {}});
    return true;
  }

  bool add(JsonValue value) {
    if (++values > limits.values)
      return stop("expects at most " + std::to_string(limits.values) +
                  " values of JSON, but got more");
    if (stack.empty())
      root = std::move(value);
    else if (stack.back().isObject)
      stack.back().members.push_back(
          {std::move(stack.back().key), std::move(value)});
    else
      stack.back().elements.push_back(std::move(value));
    return true;
  }

  bool stop(std::string why) {
    problem = std::move(why);
    return false;
  }

  const JsonLimits &limits;
  const TaggedText &text;
  std::vector<Frame> stack;
  uint64_t values = 0;
};

} // namespace

llvm::Expected<JsonValue> effc::frontend::parseJson(llvm::StringRef text,
                                                    llvm::StringRef name,
                                                    const JsonLimits &limits) {
  if (text.size() > limits.bytes)
    return refuse(name + ": expects at most " + llvm::Twine(limits.bytes) +
                  " bytes of JSON, but got " + llvm::Twine(text.size()));
  if (text.starts_with("\xef\xbb\xbf"))
    return refuse(name +
                  ": starts with a byte order mark; expects plain UTF-8");
  // The parser would take a NUL for the end of the text.
  if (size_t at = text.find('\0'); at != llvm::StringRef::npos)
    return refuse(name + ": expects text, but got a NUL at byte " +
                  llvm::Twine(at));

  TaggedText tagged(text, limits.nonFinite);
  llvm::StringRef plain = tagged.get();
  Builder builder(limits, tagged);
  if (!nlohmann::json::sax_parse(plain.begin(), plain.end(), &builder))
    return refuse(name + ": " + builder.problem);
  return std::move(builder.root);
}

llvm::Expected<JsonValue>
effc::frontend::readJsonObject(llvm::StringRef path, llvm::StringRef name,
                               const JsonLimits &limits) {
  auto text = readTextFile(path, name, limits.bytes);
  if (!text)
    return text.takeError();
  auto value = parseJson(*text, name, limits);
  if (!value)
    return value.takeError();
  if (!value->getObject())
    return refuse(name + ": expects an object, but got " + value->describe());
  return value;
}
