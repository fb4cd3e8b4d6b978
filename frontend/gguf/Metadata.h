// The keys and values of a GGUF file, and who has asked for which.
//
// As with ConfigReader, getters never fail on the spot: a value of a wrong type
// or outside of its range is kept as a problem, and getProblem() returns all of
// them by one message, which names the file, the key, what is expected and what
// was found. A getter that found a problem returns nothing.
//
//   std::optional<int64_t> layers = metadata.getInteger("llama.block_count", 1, 1024);
//   const std::string *model = metadata.getString("tokenizer.ggml.model");
//   if (llvm::Error error = metadata.getProblem()) ...
#ifndef EFFC_FRONTEND_GGUF_METADATA_H
#define EFFC_FRONTEND_GGUF_METADATA_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace effc::frontend {

/// The types of values, by the numbers that stand for them in a file.
enum class GgufValueType : uint32_t {
  U8,
  I8,
  U16,
  I16,
  U32,
  I32,
  F32,
  Bool,
  String,
  Array,
  U64,
  I64,
  F64
};

/// "u32", "string".
llvm::StringRef getName(GgufValueType type);
/// Bytes of a value; 0 of a string and of an array.
unsigned getBytes(GgufValueType type);

/// One value, or an array of values of one type. Arrays do not nest.
struct GgufValue {
  /// Of the value, or of the array's elements.
  GgufValueType type = GgufValueType::U8;
  bool isArray = false;
  uint64_t count = 1;
  /// The values as they lie in the file, little-endian; empty for strings.
  std::string bytes;
  std::vector<std::string> strings;

  bool isInteger() const;
  bool isFloat() const {
    return type == GgufValueType::F32 || type == GgufValueType::F64;
  }
  /// Element `index` of integers or booleans; none where an i64 cannot hold the
  /// number.
  std::optional<int64_t> getInteger(uint64_t index = 0) const;
  /// The same of floats; f32 exactly.
  double getNumber(uint64_t index = 0) const;
  /// For "but got ...": `8 (u32)`, `"a" (string)`, `an array of 3 f32`.
  std::string describe() const;
};

struct GgufPair {
  std::string key;
  GgufValue value;
};

class GgufMetadata {
public:
  /// `file` names the file in messages. Keys differ from one another.
  GgufMetadata(llvm::StringRef file, std::vector<GgufPair> pairs);

  const std::string &getFile() const { return file; }
  /// In the order of the file.
  llvm::ArrayRef<GgufPair> getPairs() const { return pairs; }
  /// Null where the file does not have the key. Nobody is taken to have asked.
  const GgufValue *find(llvm::StringRef key) const;
  bool has(llvm::StringRef key) const { return find(key) != nullptr; }

  /// The value, whose type the caller checks; null where the key is missing.
  const GgufValue *get(llvm::StringRef key);

  /// An integer of any width in [least, most]; none where the key is missing.
  std::optional<int64_t> getInteger(llvm::StringRef key, int64_t least,
                                    int64_t most);
  /// The same, and a missing key is a problem; `least` where there is one.
  int64_t requireInteger(llvm::StringRef key, int64_t least, int64_t most);
  /// A float in [least, most].
  std::optional<double> getNumber(llvm::StringRef key, double least,
                                  double most);
  std::optional<bool> getBoolean(llvm::StringRef key);
  /// Null where the key is missing.
  const std::string *getString(llvm::StringRef key);

  /// Arrays; `count`: how many elements there have to be, where that is known.
  /// Integers are of any width and in [least, most]; floats are of either width
  /// and never NaN.
  const std::vector<std::string> *
  getStrings(llvm::StringRef key, std::optional<uint64_t> count = {});
  std::optional<std::vector<int64_t>>
  getIntegers(llvm::StringRef key, int64_t least, int64_t most,
              std::optional<uint64_t> count = {});
  std::optional<std::vector<double>>
  getNumbers(llvm::StringRef key, std::optional<uint64_t> count = {});
  std::optional<std::vector<bool>>
  getBooleans(llvm::StringRef key, std::optional<uint64_t> count = {});
  /// An array of `count` integers, or one integer that stands for all of them.
  std::optional<std::vector<int64_t>> getIntegerForEach(llvm::StringRef key,
                                                        int64_t least,
                                                        int64_t most,
                                                        uint64_t count);

  /// Accepts keys whatever their values.
  void ignore(llvm::ArrayRef<llvm::StringRef> keys);
  /// The keys that begin with `prefix` and that nobody has asked for, in the
  /// order of the file.
  std::vector<llvm::StringRef> getUnread(llvm::StringRef prefix = "") const;

  /// Keeps a problem: "FILE: " and `message`.
  void report(const llvm::Twine &message);
  /// Keeps the problem that `key` is not `expected`.
  void reportMismatch(llvm::StringRef key, const llvm::Twine &expected,
                      const GgufValue &found);
  bool hasProblem() const { return !problems.empty(); }
  /// All problems so far, if any.
  llvm::Error getProblem() const;

private:
  const GgufValue *getArray(llvm::StringRef key, llvm::StringRef expected,
                            bool (*fits)(const GgufValue &),
                            std::optional<uint64_t> count);

  std::string file;
  std::vector<GgufPair> pairs;
  llvm::StringMap<uint32_t> byKey;
  llvm::StringSet<> asked;
  std::vector<std::string> problems;
};

} // namespace effc::frontend

#endif // EFFC_FRONTEND_GGUF_METADATA_H
