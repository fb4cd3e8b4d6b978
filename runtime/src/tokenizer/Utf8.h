//===- Utf8.h - Telling characters from bytes -----------------------------===//
#ifndef EFFC_RUNTIME_SRC_TOKENIZER_UTF8_H
#define EFFC_RUNTIME_SRC_TOKENIZER_UTF8_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace effc::rt {

/// What stands at the start of some bytes.
struct Utf8Step {
  enum Kind : uint8_t {
    Character, // a whole character of `bytes` bytes
    Invalid,   // `bytes` bytes that no character starts with: one U+FFFD
    Cut        // all bytes left, the start of a character that may follow
  };
  Kind kind;
  uint8_t bytes;
};

/// Looks at the first character of `text`, which is not empty. Invalid runs are
/// the maximal ones of the Unicode standard (3.9, "maximal subpart"), which is
/// how Rust and Python replace: surrogates, overlong forms and values past
/// U+10FFFF are invalid byte by byte.
Utf8Step nextCharacter(std::string_view text);

constexpr std::string_view kReplacement = "\xEF\xBF\xBD"; // U+FFFD

/// `text` with each invalid run replaced by U+FFFD; a cut end counts as one.
std::string makeValidUtf8(std::string_view text);

/// Whether `text` is one character of valid UTF-8.
bool isOneCharacter(std::string_view text);

/// Hands out a stream of bytes as whole characters.
class Utf8Stream {
public:
  /// Adds `bytes`; returns the text that is certain now, valid until the next
  /// call.
  std::string_view push(std::string_view bytes);
  /// What is left becomes U+FFFD; the stream is empty afterwards.
  std::string_view finish();

private:
  std::string pending; // the start of a character, at most 3 bytes
  std::string ready;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_TOKENIZER_UTF8_H
