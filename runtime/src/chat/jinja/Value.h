//===- Value.h - What expressions of a template are -----------------------===//
//
// Python's values as far as templates meet them: JSON's, tuples, ranges, views of
// mappings, generators, namespaces and what can be called. All but namespaces and
// the place of a generator are immutable, as the reference's sandbox has it, so a
// value holds no cycle.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_CHAT_JINJA_VALUE_H
#define EFFC_RUNTIME_SRC_CHAT_JINJA_VALUE_H

#include "runtime/src/chat/jinja/Text.h"

#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <variant>

namespace effc::rt::jinja {

struct Sequence;
class Mapping;
struct Callable;
struct Loop;
class Value;

/// Belongs to the rendering that made it.
struct Namespace {
  std::map<std::string, Value, std::less<>> attributes;
};

/// Nothing, and the name of what is missing, for messages.
struct Undefined {
  std::shared_ptr<const std::string> what;
};
struct None {};

using TextRef = std::shared_ptr<const Text>;

/// The order is that of Value::content.
enum class Kind : uint8_t {
  Undefined,
  None,
  Boolean,
  Integer,
  Float,
  Text,
  Sequence,
  Mapping,
  Namespace,
  Callable,
  Loop
};

class Value {
public:
  // Out of line: values are copied in many places.
  Value();
  Value(const Value &);
  Value(Value &&) noexcept;
  Value &operator=(const Value &);
  Value &operator=(Value &&) noexcept;
  ~Value();
  Value(None) : content(None{}) {}
  /// No pointer, which would be true.
  template <std::same_as<bool> Truth> Value(Truth truth) : content(truth) {}
  Value(int64_t number) : content(number) {}
  Value(double number) : content(number) {}
  Value(TextRef text) : content(std::move(text)) {}
  Value(std::shared_ptr<const Sequence> items) : content(std::move(items)) {}
  Value(std::shared_ptr<const Mapping> entries) : content(std::move(entries)) {}
  Value(Namespace *space) : content(space) {}
  Value(std::shared_ptr<const Callable> call) : content(std::move(call)) {}
  Value(std::shared_ptr<const Loop> loop) : content(std::move(loop)) {}
  static Value undefined(std::string what);
  static Value own(std::string bytes) {
    return TextRef(std::make_shared<Text>(std::move(bytes)));
  }

  Kind kind() const { return static_cast<Kind>(content.index()); }
  bool is(Kind wanted) const { return kind() == wanted; }
  bool isUndefined() const { return is(Kind::Undefined); }
  bool isText() const { return is(Kind::Text); }
  /// A truth counts as one, as in Python.
  bool isNumber() const {
    return is(Kind::Boolean) || is(Kind::Integer) || is(Kind::Float);
  }
  bool isWhole() const { return is(Kind::Boolean) || is(Kind::Integer); }

  // Only of the kind that the name says.
  bool boolean() const { return std::get<bool>(content); }
  int64_t whole() const {
    return is(Kind::Boolean) ? boolean() : std::get<int64_t>(content);
  }
  double number() const {
    return is(Kind::Float) ? std::get<double>(content)
                           : static_cast<double>(whole());
  }
  const Text &text() const { return *std::get<TextRef>(content); }
  const TextRef &textRef() const { return std::get<TextRef>(content); }
  const Sequence &sequence() const {
    return *std::get<std::shared_ptr<const Sequence>>(content);
  }
  const Mapping &mapping() const {
    return *std::get<std::shared_ptr<const Mapping>>(content);
  }
  Namespace &space() const { return *std::get<Namespace *>(content); }
  const Callable &callable() const {
    return *std::get<std::shared_ptr<const Callable>>(content);
  }
  const std::shared_ptr<const Loop> &loop() const {
    return std::get<std::shared_ptr<const Loop>>(content);
  }
  /// What is missing, for messages.
  std::string missing() const;

  /// How many containers lie in each other, this one included.
  unsigned depth() const;
  /// "a text", "a list", for messages.
  std::string description() const;

private:
  std::variant<Undefined, None, bool, int64_t, double, TextRef,
               std::shared_ptr<const Sequence>, std::shared_ptr<const Mapping>,
               Namespace *, std::shared_ptr<const Callable>,
               std::shared_ptr<const Loop>>
      content;
};

/// Python's kinds of values that give others one after another.
enum class Form : uint8_t { List, Tuple, Range, View, Generator };

struct Sequence {
  Form form = Form::List;
  std::vector<Value> items;
  unsigned depth = 1;
  /// Of a generator: how many have been taken, which cannot be taken again.
  mutable size_t taken = 0;

  Sequence() = default;
  Sequence(Form form, std::vector<Value> items);
};

/// From texts and whole numbers to values, in the order in which keys first came.
class Mapping {
public:
  struct Entry {
    Value key;
    Value value;
  };
  void set(Value key, Value value);
  void set(std::string_view key, Value value) {
    set(Value::own(std::string(key)), std::move(value));
  }
  /// Null where there is none.
  const Value *find(std::string_view key) const;
  /// Likewise; no other kinds of values are keys.
  const Value *find(const Value &key) const;
  const std::vector<Entry> &entries() const { return all; }
  size_t size() const { return all.size(); }
  unsigned depth() const { return most; }

private:
  std::vector<Entry> all;
  /// Where there are many: from keys as text, numbers apart from texts.
  std::unordered_map<std::string, size_t> index;
  unsigned most = 1;
};

struct Macro;
class Scope;

/// A macro, a global function, or a method together with its object.
struct Callable {
  std::string name;
  Value receiver;               // of a method
  const Macro *macro = nullptr; // null for functions and methods
  Scope *scope = nullptr;       // where the macro is defined
};

/// The variable `loop` of a for.
struct Loop {
  std::shared_ptr<const Sequence> items;
  size_t index = 0;
  size_t nesting = 0; // loops around it
};

} // namespace effc::rt::jinja

#endif // EFFC_RUNTIME_SRC_CHAT_JINJA_VALUE_H
