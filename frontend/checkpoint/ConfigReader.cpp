#include "frontend/checkpoint/ConfigReader.h"

#include "frontend/checkpoint/Refusal.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace effc::frontend;

std::string effc::frontend::describeNumber(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", number);
  return text;
}

const JsonValue *ConfigReader::get(llvm::StringRef key) {
  asked.insert(key);
  return object.find(key);
}

void ConfigReader::report(const llvm::Twine &message) {
  if (problem.empty())
    problem = (file + ": " + message).str();
}

void ConfigReader::reportMismatch(llvm::StringRef key,
                                  const llvm::Twine &expected,
                                  const JsonValue &found) {
  report("expects " + quote(key) + " to be " + expected + ", but got " +
         found.describe());
}

int64_t ConfigReader::requireInteger(llvm::StringRef key, int64_t least,
                                     int64_t most) {
  if (!get(key))
    report("lacks " + quote(key));
  return getInteger(key, least, most, least);
}

int64_t ConfigReader::getInteger(llvm::StringRef key, int64_t least,
                                 int64_t most, int64_t fallback) {
  const JsonValue *value = get(key);
  if (!value)
    return fallback;
  std::optional<int64_t> integer = value->getInteger();
  if (integer && *integer >= least && *integer <= most)
    return *integer;
  reportMismatch(
      key, "an integer in " + llvm::Twine(least) + ".." + llvm::Twine(most),
      *value);
  return fallback;
}

double ConfigReader::getNumber(llvm::StringRef key, double least, double most,
                               double fallback) {
  const JsonValue *value = get(key);
  if (!value)
    return fallback;
  std::optional<double> number = value->getNumber();
  if (number && *number >= least && *number <= most)
    return *number;
  reportMismatch(
      key, "a number in " + describeNumber(least) + ".." + describeNumber(most),
      *value);
  return fallback;
}

bool ConfigReader::getBoolean(llvm::StringRef key, bool fallback) {
  const JsonValue *value = get(key);
  if (!value)
    return fallback;
  if (std::optional<bool> boolean = value->getBoolean())
    return *boolean;
  reportMismatch(key, "true or false", *value);
  return fallback;
}

const std::string *ConfigReader::getString(llvm::StringRef key) {
  const JsonValue *value = get(key);
  if (value && !value->getString())
    reportMismatch(key, "a string", *value);
  return value ? value->getString() : nullptr;
}

bool ConfigReader::isSet(llvm::StringRef key) {
  const JsonValue *value = get(key);
  return value && !value->isNull();
}

std::optional<int64_t> ConfigReader::getIntegerIfSet(llvm::StringRef key,
                                                     int64_t least,
                                                     int64_t most) {
  if (!isSet(key))
    return std::nullopt;
  return getInteger(key, least, most, least);
}

std::optional<double> ConfigReader::getNumberIfSet(llvm::StringRef key,
                                                   double least, double most) {
  if (!isSet(key))
    return std::nullopt;
  return getNumber(key, least, most, least);
}

const JsonObject *ConfigReader::getObjectIfSet(llvm::StringRef key) {
  if (!isSet(key))
    return nullptr;
  const JsonObject *inner = get(key)->getObject();
  if (!inner)
    reportMismatch(key, "an object", *get(key));
  return inner;
}

void ConfigReader::finishInner(ConfigReader &inner) {
  llvm::Error error = inner.finish();
  if (!error)
    return;
  std::string message = llvm::toString(std::move(error));
  if (problem.empty())
    problem = message;
}

std::vector<llvm::StringRef>
ConfigReader::ignore(llvm::ArrayRef<llvm::StringRef> keys) {
  std::vector<llvm::StringRef> present;
  for (llvm::StringRef key : keys)
    if (!asked.contains(key) && get(key))
      present.push_back(key);
  return present;
}

void ConfigReader::expectNone(llvm::ArrayRef<llvm::StringRef> keys,
                              const llvm::Twine &where) {
  for (llvm::StringRef key : keys) {
    const JsonValue *value = get(key);
    if (value && !value->isNull() && value->getBoolean().value_or(true))
      report("expects no " + quote(key) + " " + where + ", but got " +
             value->describe());
  }
}

llvm::Error ConfigReader::getProblem() const {
  if (problem.empty())
    return llvm::Error::success();
  return refuse(problem);
}

llvm::Error ConfigReader::finish() {
  for (const JsonMember &member : object.getMembers())
    if (!asked.contains(member.key))
      report("unknown key " + quote(member.key) +
             " is refused: it may change the model");
  return getProblem();
}
