#include "frontend/checkpoint/ConfigReader.h"

#include "frontend/checkpoint/NearestName.h"
#include "frontend/checkpoint/Refusal.h"

#include "llvm/ADT/STLExtras.h"
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

void ConfigReader::expectAlways(llvm::ArrayRef<llvm::StringRef> keys,
                                bool expected) {
  for (llvm::StringRef key : keys)
    if (getBoolean(key, expected) != expected)
      report("expects " + quote(key) + " to be " +
             (expected ? "true" : "false") + ", but got " +
             (expected ? "false" : "true"));
}

void ConfigReader::expectString(llvm::StringRef key, llvm::StringRef expected) {
  const std::string *name = isSet(key) ? getString(key) : nullptr;
  if (name && *name != expected)
    reportMismatch(key, expected, *get(key));
}

void ConfigReader::report(const llvm::Twine &message) {
  if (!guesses)
    reportBeside(message);
  guesses = true;
}

void ConfigReader::reportBeside(const llvm::Twine &message) {
  std::string text = (file + ": " + message).str();
  if (!llvm::is_contained(problems, text))
    problems.push_back(std::move(text));
}

void ConfigReader::reportMismatch(llvm::StringRef key,
                                  const llvm::Twine &expected,
                                  const JsonValue &found) {
  if (guesses && found.getNumber())
    return;
  reportBeside("expects " + quote(key) + " to be " + expected + ", but got " +
               found.describe());
  guesses = true;
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
  std::string one = std::to_string(least);
  reportMismatch(key,
                 least == most
                     ? one
                     : "an integer in " + one + ".." + std::to_string(most),
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
  // Python takes null as false. Where a missing key means true, nobody can tell
  // which of the two is meant.
  if (unread && value->isNull() && !fallback)
    return false;
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
  inner.judgeRest();
  llvm::append_range(problems, inner.problems);
  guesses |= inner.guesses;
  // Which keys an object has often follows from one of its values.
  if (!inner.guesses)
    llvm::append_range(refused, inner.refused);
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
  if (problems.empty())
    return llvm::Error::success();
  // The file is named once.
  std::string text = problems.front();
  for (llvm::StringRef problem : llvm::drop_begin(problems)) {
    problem.consume_front(file + ": ");
    text += "; " + problem.str();
  }
  return refuse(text);
}

bool ConfigReader::isAllowed(llvm::StringRef key) {
  if (!unread || !unread->allowed.contains(path + key.str()))
    return false;
  (void)get(key);
  unread->remarks.push_back(file + ": " + quote(key) + " is ignored: --allow " +
                            path + key.str());
  return true;
}

/// The key that `key` is close to and that is not there: one that was asked
/// for, or that tools write. Empty where none is.
std::string ConfigReader::guessMeant(llvm::StringRef key) const {
  // Two letters of eight at most: in short names everything is close.
  NearestName meant(key, std::min<size_t>(2, key.size() / 4));
  auto consider = [&](llvm::StringRef name) {
    meant.consider(name, [&] { return !object.find(name); });
  };
  for (const auto &entry : asked)
    consider(entry.getKey());
  if (unread && isWhole)
    llvm::for_each(listToolKeys(), consider);
  return meant.get().str();
}

void ConfigReader::judgeRest() {
  // Nobody reads more guesses, and each is a comparison with all names.
  constexpr size_t kMostGuesses = 32;
  for (const JsonMember &member : object.getMembers()) {
    if (asked.contains(member.key))
      continue;
    if (isAllowed(member.key))
      continue;
    UnreadKey found;
    if (unread)
      found = judgeUnreadKey(member.key, member.value, isWhole);
    if (!found.harmless.empty()) {
      unread->remarks.push_back(file + ": " + quote(member.key) +
                                " is ignored: " + found.harmless);
      continue;
    }
    std::string note;
    if (!found.expected.empty())
      note = " (expects " + found.expected + ", but got " +
             member.value.describe() + ")";
    else if (refused.size() < kMostGuesses)
      if (std::string meant = guessMeant(member.key); !meant.empty())
        note = " (is " + quote(meant) + " meant?)";
    refused.push_back({path + member.key, note, !found.expected.empty()});
  }
}

/// One key or all: "unknown keys 'a', 'b' and 'c' are refused: ...". A key that is
/// known for a value other than the one found is not supported.
std::string ConfigReader::describeRefused() const {
  // A line that can still be read.
  constexpr size_t kMostNamed = 64;
  size_t named = std::min(refused.size(), kMostNamed);
  std::string list, names;
  for (size_t i = 0; i < named; ++i) {
    bool isLast = i + 1 == named && named == refused.size();
    list += (i == 0   ? ""
             : isLast ? " and "
                      : ", ") +
            quote(refused[i].path) + refused[i].note;
    names += (i == 0 ? "" : ",") + refused[i].path;
  }
  bool isOne = refused.size() == 1;
  if (named < refused.size())
    list += " and " + std::to_string(refused.size() - named) + " more";
  size_t known =
      llvm::count_if(refused, [](const Refused &one) { return one.isKnown; });
  llvm::StringRef kind = known == 0                ? "unknown"
                         : known == refused.size() ? "unsupported"
                                                   : "unknown or unsupported";
  std::string text = kind.str() + " key" + (isOne ? " " : "s ") + list +
                     (isOne ? " is refused: it may change the model"
                            : " are refused: they may change the model");
  bool canAllow = llvm::none_of(refused, [](const Refused &one) {
    return llvm::StringRef(one.path).contains(',') ||
           quote(one.path) != "'" + one.path + "'";
  });
  if (unread && canAllow && named == refused.size())
    text += "; where nothing depends on " + std::string(isOne ? "it" : "them") +
            ", --allow " + names;
  return text;
}

llvm::Error ConfigReader::finish() {
  judgeRest();
  if (refused.empty())
    return getProblem();
  if (!guesses) {
    reportBeside(describeRefused());
    return getProblem();
  }
  // Another value might have led to some of them.
  std::string names;
  for (const Refused &one : refused)
    names += (names.empty() ? "" : ", ") + quote(one.path);
  reportBeside("keys that were not asked for so far: " + names);
  return getProblem();
}
