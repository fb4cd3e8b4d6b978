#include "frontend/gguf/Metadata.h"

#include "frontend/checkpoint/ConfigReader.h"
#include "frontend/checkpoint/Refusal.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"

#include <cmath>
#include <limits>

using namespace effc::frontend;

namespace {
struct TypeRow {
  llvm::StringLiteral name;
  unsigned bytes;
};
} // namespace

// By the types' numbers.
static constexpr TypeRow kTypes[] = {
    {"u8", 1},  {"i8", 1},  {"u16", 2},  {"i16", 2},    {"u32", 4},
    {"i32", 4}, {"f32", 4}, {"bool", 1}, {"string", 0}, {"array", 0},
    {"u64", 8}, {"i64", 8}, {"f64", 8}};

llvm::StringRef effc::frontend::getName(GgufValueType type) {
  return kTypes[uint32_t(type)].name;
}

unsigned effc::frontend::getBytes(GgufValueType type) {
  return kTypes[uint32_t(type)].bytes;
}

bool GgufValue::isInteger() const {
  return !isFloat() && type != GgufValueType::Bool &&
         type != GgufValueType::String;
}

std::optional<int64_t> GgufValue::getInteger(uint64_t index) const {
  using namespace llvm::support::endian;
  const char *at = bytes.data() + index * getBytes(type);
  switch (type) {
  case GgufValueType::U8:
  case GgufValueType::Bool:
    return uint8_t(*at);
  case GgufValueType::I8:
    return int8_t(*at);
  case GgufValueType::U16:
    return read16le(at);
  case GgufValueType::I16:
    return int16_t(read16le(at));
  case GgufValueType::U32:
    return read32le(at);
  case GgufValueType::I32:
    return int32_t(read32le(at));
  case GgufValueType::I64:
    return int64_t(read64le(at));
  case GgufValueType::U64: {
    uint64_t number = read64le(at);
    if (number <= uint64_t(std::numeric_limits<int64_t>::max()))
      return int64_t(number);
    return std::nullopt;
  }
  default:
    return std::nullopt;
  }
}

double GgufValue::getNumber(uint64_t index) const {
  using namespace llvm::support::endian;
  const char *at = bytes.data() + index * getBytes(type);
  if (type == GgufValueType::F32)
    return llvm::bit_cast<float>(read32le(at));
  return llvm::bit_cast<double>(read64le(at));
}

std::string GgufValue::describe() const {
  std::string kind = getName(type).str();
  if (isArray)
    return "an array of " + std::to_string(count) + " " + kind;
  std::string text;
  if (type == GgufValueType::String)
    text = quote(strings.front(), '"');
  else if (type == GgufValueType::Bool)
    text = *getInteger() ? "true" : "false";
  else if (isFloat())
    text = describeNumber(getNumber());
  else if (std::optional<int64_t> number = getInteger())
    text = std::to_string(*number);
  else
    text = std::to_string(llvm::support::endian::read64le(bytes.data()));
  return text + " (" + kind + ")";
}

GgufMetadata::GgufMetadata(llvm::StringRef file, std::vector<GgufPair> pairs)
    : file(file), pairs(std::move(pairs)) {
  for (const auto &[index, pair] : llvm::enumerate(this->pairs))
    byKey[pair.key] = uint32_t(index);
}

const GgufValue *GgufMetadata::find(llvm::StringRef key) const {
  auto at = byKey.find(key);
  return at == byKey.end() ? nullptr : &pairs[at->second].value;
}

const GgufValue *GgufMetadata::get(llvm::StringRef key) {
  asked.insert(key);
  return find(key);
}

void GgufMetadata::report(const llvm::Twine &message) {
  std::string text = message.str();
  if (!llvm::is_contained(problems, text))
    problems.push_back(std::move(text));
}

void GgufMetadata::reportMismatch(llvm::StringRef key,
                                  const llvm::Twine &expected,
                                  const GgufValue &found) {
  report("expects " + quote(key) + " to be " + expected + ", but got " +
         found.describe());
}

llvm::Error GgufMetadata::getProblem() const {
  if (problems.empty())
    return llvm::Error::success();
  // A line that can still be read.
  constexpr size_t kMostNamed = 16;
  size_t named = std::min(problems.size(), kMostNamed);
  std::string text = file + ": " + problems.front();
  for (size_t i = 1; i < named; ++i)
    text += "; " + problems[i];
  if (named < problems.size())
    text += "; and " + std::to_string(problems.size() - named) + " more";
  return refuse(text);
}

std::optional<int64_t> GgufMetadata::getInteger(llvm::StringRef key,
                                                int64_t least, int64_t most) {
  const GgufValue *value = get(key);
  if (!value)
    return std::nullopt;
  if (!value->isArray && value->isInteger())
    if (std::optional<int64_t> integer = value->getInteger();
        integer && *integer >= least && *integer <= most)
      return integer;
  reportMismatch(
      key, "an integer in " + llvm::Twine(least) + ".." + llvm::Twine(most),
      *value);
  return std::nullopt;
}

int64_t GgufMetadata::requireInteger(llvm::StringRef key, int64_t least,
                                     int64_t most) {
  if (!get(key))
    report("lacks key " + quote(key));
  return getInteger(key, least, most).value_or(least);
}

std::optional<double> GgufMetadata::getNumber(llvm::StringRef key, double least,
                                              double most) {
  const GgufValue *value = get(key);
  if (!value)
    return std::nullopt;
  if (!value->isArray && value->isFloat())
    if (double number = value->getNumber(); number >= least && number <= most)
      return number;
  reportMismatch(
      key, "a float in " + describeNumber(least) + ".." + describeNumber(most),
      *value);
  return std::nullopt;
}

std::optional<bool> GgufMetadata::getBoolean(llvm::StringRef key) {
  const GgufValue *value = get(key);
  if (!value)
    return std::nullopt;
  if (!value->isArray && value->type == GgufValueType::Bool)
    return *value->getInteger() != 0;
  reportMismatch(key, "a bool", *value);
  return std::nullopt;
}

const std::string *GgufMetadata::getString(llvm::StringRef key) {
  const GgufValue *value = get(key);
  if (!value)
    return nullptr;
  if (!value->isArray && value->type == GgufValueType::String)
    return &value->strings.front();
  reportMismatch(key, "a string", *value);
  return nullptr;
}

/// Null where the key is missing or there is a problem. `expected` names the
/// elements.
const GgufValue *GgufMetadata::getArray(llvm::StringRef key,
                                        llvm::StringRef expected,
                                        bool (*fits)(const GgufValue &),
                                        std::optional<uint64_t> count) {
  const GgufValue *value = get(key);
  if (!value)
    return nullptr;
  if (value->isArray && fits(*value) && (!count || value->count == *count))
    return value;
  reportMismatch(key,
                 "an array of " +
                     (count ? std::to_string(*count) + " " : std::string()) +
                     expected,
                 *value);
  return nullptr;
}

const std::vector<std::string> *
GgufMetadata::getStrings(llvm::StringRef key, std::optional<uint64_t> count) {
  const GgufValue *value = getArray(
      key, "strings",
      [](const GgufValue &value) {
        return value.type == GgufValueType::String;
      },
      count);
  return value ? &value->strings : nullptr;
}

std::optional<std::vector<int64_t>>
GgufMetadata::getIntegers(llvm::StringRef key, int64_t least, int64_t most,
                          std::optional<uint64_t> count) {
  const GgufValue *value = getArray(
      key, "integers", [](const GgufValue &value) { return value.isInteger(); },
      count);
  if (!value)
    return std::nullopt;
  std::vector<int64_t> integers;
  for (uint64_t i = 0; i < value->count; ++i) {
    std::optional<int64_t> integer = value->getInteger(i);
    if (!integer || *integer < least || *integer > most) {
      report("expects " + quote(key) + " to have integers in " +
             llvm::Twine(least) + ".." + llvm::Twine(most) + ", but element " +
             llvm::Twine(i) + " is " +
             (integer ? std::to_string(*integer) : "beyond i64"));
      return std::nullopt;
    }
    integers.push_back(*integer);
  }
  return integers;
}

std::optional<std::vector<double>>
GgufMetadata::getNumbers(llvm::StringRef key, std::optional<uint64_t> count) {
  const GgufValue *value = getArray(
      key, "floats", [](const GgufValue &value) { return value.isFloat(); },
      count);
  if (!value)
    return std::nullopt;
  std::vector<double> numbers;
  for (uint64_t i = 0; i < value->count; ++i) {
    numbers.push_back(value->getNumber(i));
    if (std::isnan(numbers.back())) {
      report("expects " + quote(key) + " to have numbers, but element " +
             llvm::Twine(i) + " is NaN");
      return std::nullopt;
    }
  }
  return numbers;
}

std::optional<std::vector<bool>>
GgufMetadata::getBooleans(llvm::StringRef key, std::optional<uint64_t> count) {
  const GgufValue *value = getArray(
      key, "bools",
      [](const GgufValue &value) { return value.type == GgufValueType::Bool; },
      count);
  if (!value)
    return std::nullopt;
  std::vector<bool> booleans;
  for (uint64_t i = 0; i < value->count; ++i)
    booleans.push_back(*value->getInteger(i) != 0);
  return booleans;
}

std::optional<std::vector<int64_t>>
GgufMetadata::getIntegerForEach(llvm::StringRef key, int64_t least,
                                int64_t most, uint64_t count) {
  const GgufValue *value = get(key);
  if (!value)
    return std::nullopt;
  if (value->isArray)
    return getIntegers(key, least, most, count);
  std::optional<int64_t> integer = getInteger(key, least, most);
  if (!integer)
    return std::nullopt;
  return std::vector<int64_t>(count, *integer);
}

void GgufMetadata::ignore(llvm::ArrayRef<llvm::StringRef> keys) {
  for (llvm::StringRef key : keys)
    asked.insert(key);
}

std::vector<llvm::StringRef>
GgufMetadata::getUnread(llvm::StringRef prefix) const {
  std::vector<llvm::StringRef> unread;
  for (const GgufPair &pair : pairs)
    if (llvm::StringRef(pair.key).starts_with(prefix) &&
        !asked.contains(pair.key))
      unread.push_back(pair.key);
  return unread;
}
