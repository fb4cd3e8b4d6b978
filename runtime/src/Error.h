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

#include <locale>
#include <optional>
#include <sstream>
#include <string>
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
inline std::string onOneLine(std::string text) {
  for (size_t at = 0; at < text.size(); ++at)
    if (auto byte = static_cast<unsigned char>(text[at]);
        byte < 0x20 || byte == 0x7F) {
      const char *digits = "0123456789abcdef";
      text.replace(at, 1, {'\\', 'x', digits[byte >> 4], digits[byte & 15]});
      at += 3;
    }
  return text;
}

/// An Error whose message is `parts` written one after another.
template <typename... Parts>
Error fail(effc_status_code_t code, const Parts &...parts) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  (text << ... << parts);
  return {code, onOneLine(std::move(text).str())};
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
