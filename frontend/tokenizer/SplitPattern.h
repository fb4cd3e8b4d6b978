// Regular expressions of a tokenizer.json, which are Oniguruma's (in its Ruby
// syntax), as PCRE2 patterns that match the same.
//
// The two agree on most of what tokenizers write. Where they do not, the
// pattern is rewritten:
//
//   \s  \S         \p{White_Space}  \P{White_Space}; PCRE2's \s has U+180E too
//   \d  \D         \p{Nd}  \P{Nd}
//   .              [^\n]
//   ^  $           line ends, always: (?<![^\n])  (?![^\n])
//   \v             \x{0b}; PCRE2's \v is a class
//   \uHHHH         \x{HHHH}
//   {,3}           {0,3}
//   \p{Han}        \p{sc:Han}; PCRE2's \p{Han} is about script extensions
//
// or refused by the name of what is in it: \w \W \b \B \h and other escapes of
// letters, classes in classes and &&, POSIX brackets, `{2}?` and `{1,3}+`
// (which mean something else there), back references, inline options but
// (?i:...), and properties but general categories and common scripts.
#ifndef EFFC_FRONTEND_TOKENIZER_SPLITPATTERN_H
#define EFFC_FRONTEND_TOKENIZER_SPLITPATTERN_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace effc::frontend {

/// The pattern in PCRE2's syntax, for the options UTF and UCP; it compiles.
/// Messages start with "pattern '...'".
llvm::Expected<std::string> translatePattern(llvm::StringRef pattern);

/// A pattern that matches exactly `text`.
std::string escapePattern(llvm::StringRef text);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_TOKENIZER_SPLITPATTERN_H
