// Regular expressions of a tokenizer.json, which are Oniguruma's (in its Ruby
// syntax), in the syntax of the runtime's patterns, which is a part of PCRE2's.
//
// The two agree on most of what tokenizers write. Where they do not, the
// pattern is rewritten:
//
//   \s  \S         \p{White_Space}  \P{White_Space}; PCRE2's \s has U+180E too
//   \d  \D         \p{Nd}  \P{Nd}
//   \w  \W         a class of what is a word's there, which has U+00B2 and U+24B6
//   \b  \B         where such characters begin and end; no more than looks
//   .              [^\n]
//   ^  $           line ends, always: (?<![^\n])  (?![^\n])
//   \v             \x{0b}; PCRE2's \v is a class
//   \uHHHH         \x{HHHH}
//   {,3}           {0,3}
//   \p{Han}        \p{sc:Han}; PCRE2's \p{Han} is about script extensions
//
// or refused by the name of what is in it: \h and other escapes of letters, \W in
// a class, classes in classes and &&, POSIX brackets, `{2}?` and `{1,3}+`
// (which mean something else there), back references, inline options but
// (?i:...), properties but general categories and common scripts, and counted
// groups inside counted groups or counted past 255: the runtime writes them
// out.
#ifndef EFFC_FRONTEND_TOKENIZER_SPLITPATTERN_H
#define EFFC_FRONTEND_TOKENIZER_SPLITPATTERN_H

#include "frontend/checkpoint/ConfigReader.h"

#include <string>

namespace effc::frontend {

/// The pattern in the runtime's syntax. PCRE2 has compiled it with the options
/// UTF and UCP, so what is wrong with it is said here and not by the runtime.
/// Messages start with "pattern '...'".
llvm::Expected<std::string> translatePattern(llvm::StringRef pattern);

/// A pattern that matches exactly `text`.
std::string escapePattern(llvm::StringRef text);

/// The member 'pattern' of a component, {"Regex": pattern} or {"String": text},
/// as a pattern to be translated; reports anything else.
std::string readPattern(ConfigReader &reader);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_TOKENIZER_SPLITPATTERN_H
