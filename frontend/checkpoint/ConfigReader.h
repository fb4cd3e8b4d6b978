// Reads a configuration object key by key, and accounts for every key.
//
// Getters never fail on the spot: problems are kept, and finish() returns all of
// them by one message. Until then a getter that found a problem returns its lower
// bound or fallback, so that the code that reads a configuration is a list of
// keys. What follows from such a guess alone is dropped:
//
//   ConfigReader config("config.json", object);
//   heads = config.requireInteger("num_heads", 1, kMost);
//   epsilon = config.getNumber("layer_norm_epsilon", 0, 1, 1e-5);
//   config.ignore({"use_cache"});
//   if (llvm::Error error = config.finish()) ...
//
// finish() also refuses the keys that nobody has asked for, all of them by one
// message: what is not understood may change the mathematics. Of config.json,
// what tools write there is a remark instead (UnreadKeys.h).
#ifndef EFFC_FRONTEND_CHECKPOINT_CONFIGREADER_H
#define EFFC_FRONTEND_CHECKPOINT_CONFIGREADER_H

#include "frontend/checkpoint/Json.h"
#include "frontend/checkpoint/UnreadKeys.h"

#include "llvm/ADT/StringSet.h"

#include <optional>

namespace effc::frontend {

/// As messages have it: 0.5, 1e-06.
std::string describeNumber(double number);

class ConfigReader {
public:
  /// `file` names the object in messages. The object outlives the reader, and
  /// so does `unread`; without it every key that nobody asks for is refused.
  ConfigReader(llvm::StringRef file, const JsonObject &object,
               const UnreadKeys *unread = nullptr)
      : file(file), object(object), unread(unread) {}
  /// Reads an object inside that of `outer`, under `key`. `isWhole`: a
  /// configuration of its own, in which tools write as in the outer one.
  ConfigReader(const ConfigReader &outer, llvm::StringRef key,
               const JsonObject &object, bool isWhole = false)
      : file(outer.file + ": " + key.str()), object(object),
        unread(outer.unread), path(outer.path + key.str() + "."),
        isWhole(isWhole), guesses(outer.guesses) {}

  /// An integer in [least, most]; a missing key is a problem, or gives
  /// `fallback`.
  int64_t requireInteger(llvm::StringRef key, int64_t least, int64_t most);
  int64_t getInteger(llvm::StringRef key, int64_t least, int64_t most,
                     int64_t fallback);
  /// A number in [least, most], not NaN.
  double getNumber(llvm::StringRef key, double least, double most,
                   double fallback);
  /// In config.json null is false, unless a missing key is true.
  bool getBoolean(llvm::StringRef key, bool fallback);
  /// A string; null where the key is missing or there is a problem.
  const std::string *getString(llvm::StringRef key);
  /// Whether the key is there and not null, which stands for a default.
  bool isSet(llvm::StringRef key);
  /// An integer in [least, most]; none where the key is missing or null.
  std::optional<int64_t> getIntegerIfSet(llvm::StringRef key, int64_t least,
                                         int64_t most);
  /// A number in [least, most]; none where the key is missing or null.
  std::optional<double> getNumberIfSet(llvm::StringRef key, double least,
                                       double most);
  /// An object; null where the key is missing or null, or there is a problem.
  const JsonObject *getObjectIfSet(llvm::StringRef key);
  /// Any value; null where the key is missing. The caller checks it.
  const JsonValue *get(llvm::StringRef key);

  /// The object's name in messages.
  llvm::StringRef getFile() const { return file; }

  /// Accepts keys whatever their values; returns those that are there and have
  /// not been asked for before.
  std::vector<llvm::StringRef> ignore(llvm::ArrayRef<llvm::StringRef> keys);

  /// Refuses keys that have no effect `where` something is so. Null and false
  /// ask for nothing and are right.
  void expectNone(llvm::ArrayRef<llvm::StringRef> keys,
                  const llvm::Twine &where);

  /// Whether keys are `expected` where they are there; another value is refused.
  void expectAlways(llvm::ArrayRef<llvm::StringRef> keys, bool expected);
  /// The same of a string.
  void expectString(llvm::StringRef key, llvm::StringRef expected);
  /// Of a key's two names the one that is set, else `other`.
  llvm::StringRef spelled(llvm::StringRef name, llvm::StringRef other) {
    return isSet(name) ? name : other;
  }

  /// Keeps a problem: "FILE: " and `message`. Dropped after another one, of which
  /// it may be a consequence.
  void report(const llvm::Twine &message);
  /// Keeps a problem that has nothing to do with any value that was read.
  void reportBeside(const llvm::Twine &message);
  /// Keeps the problem that `key` is not `expected`; of numbers, whose bounds may
  /// be guesses, the first.
  void reportMismatch(llvm::StringRef key, const llvm::Twine &expected,
                      const JsonValue &found);
  /// Finishes the reader of an object inside this one and keeps its problem.
  void finishInner(ConfigReader &inner);
  /// Whether something that was read is a guess.
  bool hasProblem() const { return guesses; }

  /// Whether the user answers for `key`, which is then left aside with a
  /// remark.
  bool isAllowed(llvm::StringRef key);

  /// The problems so far, if any.
  llvm::Error getProblem() const;
  /// All problems, and all keys that were never asked for and may change the
  /// model.
  llvm::Error finish();

private:
  /// A key that is refused, and what is known of it.
  struct Refused {
    std::string path, note;
    bool isKnown; // for another value
  };
  void judgeRest();
  std::string guessMeant(llvm::StringRef key) const;
  std::string describeRefused() const;

  std::string file;
  const JsonObject &object;
  const UnreadKeys *unread = nullptr;
  /// The keys that lead to this object, each with a dot behind it.
  std::string path;
  bool isWhole = true;
  llvm::StringSet<> asked;
  std::vector<std::string> problems;
  bool guesses = false;
  std::vector<Refused> refused;
};

} // namespace effc::frontend

#endif // EFFC_FRONTEND_CHECKPOINT_CONFIGREADER_H
