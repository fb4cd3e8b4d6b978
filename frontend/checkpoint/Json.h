// JSON text as values, strictly: what readers of JSON disagree about is
// refused.
//
// Refused: a byte order mark, a NUL, text that is not UTF-8, a lone surrogate,
// a key that occurs twice in an object, a number outside the range of a double,
// anything after the document but white space, and more depth, bytes or values
// than JsonLimits allows.
//
// Accepted beyond JSON, because Python writes it: NaN, Infinity and -Infinity
// as values, and the object {"__float__": "Infinity"} (or "-Infinity", "NaN")
// that newer configuration files hold. Both read as that float.
#ifndef EFFC_FRONTEND_CHECKPOINT_JSON_H
#define EFFC_FRONTEND_CHECKPOINT_JSON_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace effc::frontend {

class JsonObject;
class JsonValue;
using JsonArray = std::vector<JsonValue>;

struct JsonLimits {
  uint64_t bytes = uint64_t(16) << 20;
  unsigned depth = 64;
  /// Twice what a vocabulary of 262,144 tokens, the largest of public models,
  /// takes with two merges a token, three values each; or headers of half a
  /// million tensors. A value of two bytes of text takes some fifty while a
  /// file is read, so that bytes alone bound too little.
  uint64_t values = uint64_t(1) << 22;
  /// Whether NaN and the infinities are accepted, in either spelling.
  bool nonFinite = true;
};

class JsonValue {
public:
  using Storage =
      std::variant<std::nullptr_t, bool, uint64_t, int64_t, double, std::string,
                   JsonArray, std::unique_ptr<JsonObject>>;

  JsonValue();
  explicit JsonValue(Storage storage);
  JsonValue(JsonValue &&) noexcept;
  JsonValue &operator=(JsonValue &&) noexcept;
  ~JsonValue();

  bool isNull() const {
    return std::holds_alternative<std::nullptr_t>(storage);
  }
  std::optional<bool> getBoolean() const;
  /// An integer as written (no fraction, no exponent) that fits.
  std::optional<uint64_t> getUnsigned() const;
  std::optional<int64_t> getInteger() const;
  /// A number, with a fraction or without; NaN and the infinities too.
  std::optional<double> getNumber() const;
  /// Null pointers where the value is of another kind.
  const std::string *getString() const;
  const JsonArray *getArray() const;
  const JsonObject *getObject() const;

  /// What the value is, for "but got ...": `8`, `"8"`, `null`, `an array of 3`.
  std::string describe() const;

private:
  Storage storage;
};

struct JsonMember {
  std::string key;
  JsonValue value;
};

/// Members in the order of the text, found by key in logarithmic time.
class JsonObject {
public:
  /// Fails with the key in question where one occurs twice.
  static llvm::Expected<JsonObject> create(std::vector<JsonMember> members);

  llvm::ArrayRef<JsonMember> getMembers() const { return members; }
  /// Null where the key does not occur.
  const JsonValue *find(llvm::StringRef key) const;

private:
  std::vector<JsonMember> members;
  std::vector<uint32_t> byKey;
};

/// Reads one document. `name` is the file's, for the message, which gives line
/// and column. Allocates in proportion to the text and never recurses by it.
llvm::Expected<JsonValue> parseJson(llvm::StringRef text, llvm::StringRef name,
                                    const JsonLimits &limits = {});

/// Reads a file that must hold an object.
llvm::Expected<JsonValue> readJsonObject(llvm::StringRef path,
                                         llvm::StringRef name,
                                         const JsonLimits &limits = {});

} // namespace effc::frontend

#endif // EFFC_FRONTEND_CHECKPOINT_JSON_H
