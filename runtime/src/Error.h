//===- Error.h - How the runtime's own functions report failure -----------===//
//
// Nothing here throws on bad input: a function returns a `Result<T>`, or a
// `Check` when there is nothing but success to return. The C border turns an
// Error into an effc_status_t (Status.h) and catches what the standard library
// throws.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_ERROR_H
#define EFFC_RUNTIME_SRC_ERROR_H

#include "runtime/include/effc/effc.h"

#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace effc::rt {

/// Why something failed: lower case, one line, no final period.
struct Error {
  effc_status_code_t code;
  std::string message;
};

/// Empty when all went well.
using Check = std::optional<Error>;

/// Writes control characters as \xNN: names that files give may hold any.
std::string onOneLine(std::string text);

/// A part of a message: a text, a character or a number. Numbers are written as
/// streams do, in no locale. Refers to texts.
class MessagePart {
public:
  MessagePart(std::string_view text) : text(text) {}
  MessagePart(const std::string &text) : text(text) {}
  MessagePart(const char *text) : text(text) {}
  MessagePart(char c) : text(digits, 1) { digits[0] = c; }
  template <std::integral Number> MessagePart(Number number) {
    if constexpr (std::is_signed_v<Number>)
      writeSigned(number);
    else
      writeUnsigned(number);
  }
  template <std::floating_point Number> MessagePart(Number number) {
    writeReal(static_cast<double>(number));
  }
  MessagePart(const MessagePart &) = delete;
  MessagePart &operator=(const MessagePart &) = delete;

  std::string_view shown() const { return text; }

private:
  void writeSigned(long long number);
  void writeUnsigned(unsigned long long number);
  void writeReal(double number);

  char digits[32];
  std::string_view text;
};

/// An Error whose message is `parts` one after another. Not a template, since there
/// are hundreds of calls.
Error makeError(effc_status_code_t code,
                std::initializer_list<MessagePart> parts);

/// An Error whose message is `parts` written one after another.
template <typename... Parts>
Error fail(effc_status_code_t code, const Parts &...parts) {
  return makeError(code, {MessagePart(parts)...});
}

template <typename... Parts> Error badData(const Parts &...parts) {
  return fail(EFFC_BAD_DATA, parts...);
}
template <typename... Parts> Error invalidArgument(const Parts &...parts) {
  return fail(EFFC_INVALID_ARGUMENT, parts...);
}

/// A T, or the reason why there is none.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : content(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : content(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return content.index() == 0; }
  T &operator*() { return std::get<0>(content); }
  T *operator->() { return &std::get<0>(content); }
  Error &error() { return std::get<1>(content); }

private:
  std::variant<T, Error> content;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_ERROR_H
